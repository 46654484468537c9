"""A server's database, in SQLite or PostgreSQL, and its migrations."""
