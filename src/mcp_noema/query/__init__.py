"""The search language of cards: its parser and its tree."""
