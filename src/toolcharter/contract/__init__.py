"""What a server has promised: written down in a lock file, and compared with what it offers now."""
