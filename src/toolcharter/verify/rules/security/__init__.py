"""What a tool may not do to the agent that reads of it, and to the user behind it."""
