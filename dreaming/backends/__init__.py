"""What answers a task about packets: embedded, recorded, or a model that can only read."""
