"""Tasks: the records of calls that outlive their request, and their stores: the shared state, and a database."""
