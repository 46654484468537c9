"""Anki packages imported and exported, in SQL."""
