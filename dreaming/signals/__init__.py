"""Where in a session a lesson may be: by structure first, by words second."""
