"""Changes of pages in their own format: what was named is replaced, and every other node stays as it is."""
