"""The contract of a server: its tools in a lock file, and the changes since then."""
