"""Servers that are not ours or run in another process: the client, the limits of their messages, their log."""
