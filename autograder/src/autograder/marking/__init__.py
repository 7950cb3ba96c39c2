"""Pages on which people mark written answers: one question, all students, without names."""
