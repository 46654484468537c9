"""The commands, one group in each file. docs/atl.md shows them in use."""
