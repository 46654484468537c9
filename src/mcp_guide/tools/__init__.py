"""The tools, one noun a file. Importing a module declares its tools. README.md here is the template for a new one."""
