"""What tools are called."""
