"""Documents in folders: found by expressions and by words, read and written without ever leaving their root."""
