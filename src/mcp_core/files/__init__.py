"""Files: folders that others write to, private files, TOML that keeps its comments, SQLite files."""
