"""Whether a schema says what it means."""
