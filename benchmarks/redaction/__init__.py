"""Redaction: how much is found, and how fast, beside other scanners."""
