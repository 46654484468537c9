"""Rules for the cost of a tool in the context of an agent."""
