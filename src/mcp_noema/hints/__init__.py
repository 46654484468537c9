"""Agent hints: what to do next, and why."""
