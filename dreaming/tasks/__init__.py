"""What a backend is asked, and how its answer is read."""
