"""The descriptions by which agents choose tools."""
