"""What an agent is to fill in."""
