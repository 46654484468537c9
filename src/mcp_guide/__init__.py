"""Guidelines and documents for coding agents: projects, categories, collections, flags and modes."""
