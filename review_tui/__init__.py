"""The review of the queue: a screen, and a plain form of it. It keeps no rules; it calls jobs."""
