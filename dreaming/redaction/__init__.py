"""What must not leave the machine: credentials refuse a transcript, identities are replaced."""
