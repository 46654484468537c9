"""What people run and import: the public names, the commands, the verifier, contracts and evaluation."""
