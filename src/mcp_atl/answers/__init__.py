"""Answers: what the site said, short enough for an agent."""
