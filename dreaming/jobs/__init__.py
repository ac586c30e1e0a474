"""What the program does, told once: each job has one or two doors above it."""
