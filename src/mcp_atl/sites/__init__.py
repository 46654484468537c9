"""Atlassian sites: where they are, how to sign in, and what may be touched there."""
