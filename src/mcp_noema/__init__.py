"""Spaced-repetition learning through an agent: decks, notes and cards, scheduled by FSRS."""
