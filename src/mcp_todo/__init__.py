"""A todo list for agents: five tools, exactly as their contract describes them."""
