"""What a server with declared tools promises."""
