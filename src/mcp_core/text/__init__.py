"""Text: JSON as it goes over the wire, and counted nouns."""
