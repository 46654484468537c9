"""What a server that holds itself to the charter has promised."""
