"""Anki's files, in and out, without a database of ours."""
