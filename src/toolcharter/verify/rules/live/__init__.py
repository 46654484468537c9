"""How a running server behaves when it is called."""
