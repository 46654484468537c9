"""Cards as text: templates, gaps and HTML. No I/O."""
