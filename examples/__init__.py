"""Small servers to learn from. The tests run them."""
