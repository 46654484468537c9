"""The tools, one noun a file. Importing a module declares its tools."""
