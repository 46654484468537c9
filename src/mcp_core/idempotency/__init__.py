"""Idempotency keys: the interface of their store, and the stores: the shared state, and a database."""
