"""A todo list that an agent picks the right tool for: five tools, to the letter of their contract."""
