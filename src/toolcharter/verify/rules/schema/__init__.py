"""Whether schemas are valid and mean what they say."""
