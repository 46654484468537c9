"""The schema of audit records in a database."""
