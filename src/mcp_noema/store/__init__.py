"""The collection in SQL. Loaded only when the server opens it: SQLAlchemy takes a third of a second."""
