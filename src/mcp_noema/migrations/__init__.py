"""The steps that lead to the newest tables, one a file."""
