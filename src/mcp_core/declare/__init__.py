"""The declaration of a tool, a prompt or a resource, and what follows from it alone."""
