"""What a tool takes from an agent's context."""
