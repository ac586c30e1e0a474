"""What the screens are made of; each widget is a file."""
