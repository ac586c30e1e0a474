"""How long histories are borne."""
