"""The parameters that agents fill in."""
