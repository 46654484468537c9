"""Documents in folders: found by expressions and by words, read and written, never outside their root."""
