"""What a tool costs in the context of an agent."""
