"""Rules for the promises of a server with declared tools."""
