"""What starts a night on its own, one module a kind."""
