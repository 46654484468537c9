"""Calls the tools of a running server, on request only, and records what happens.

All calls are made first, by `probe`. The live rules then check the observations, so no rule makes calls of its own.
"""
