"""Dice for an agent: the smallest complete server package."""
