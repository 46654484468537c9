"""The prompts, one a file. README.md here is the template for a new one."""
