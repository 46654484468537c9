"""How people get a server: what starts it, and what is published of it."""
