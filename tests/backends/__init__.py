"""Backends against loopback servers and recordings."""
