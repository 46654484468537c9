"""Servers of this environment: found by their name or file, verified and run with their examples."""
