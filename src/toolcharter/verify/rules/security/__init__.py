"""Texts that manipulate an agent, deceive its user, or leak secrets."""
