"""Readers of what agents wrote: one file an agent, one interface for all."""
