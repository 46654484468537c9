"""Answers: the answers of the site, short enough for an agent."""
