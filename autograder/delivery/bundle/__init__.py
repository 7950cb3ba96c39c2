"""Makes the student's bundle: notebooks, the course's wheel and a start in two lines."""
