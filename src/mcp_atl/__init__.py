"""Jira and Confluence for agents, behind one schema."""
