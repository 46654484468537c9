"""The side of the servers behind the governor: transports, sessions and processes. Plain dicts, no SDK types."""
