"""Full-text search in documents: the index, queries, ranking and snippets."""
