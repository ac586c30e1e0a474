"""The hands: what reads and writes files and the database."""
