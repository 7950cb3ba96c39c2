"""Between this course and a learning management system: submissions in, feedback and marks out."""
