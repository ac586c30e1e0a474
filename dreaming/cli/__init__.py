"""The command line: options, one call, one print. No rules live here."""
