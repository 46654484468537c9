"""What a tool, a prompt or a resource says of itself, and what follows from that alone."""
