"""The tables of the framework itself."""
