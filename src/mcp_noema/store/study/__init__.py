"""Studying in SQL: the cards that wait, and the answers."""
