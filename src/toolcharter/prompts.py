"""Prompts and their messages."""

from mcp_core.declare.prompts import Message, Prompt, PromptArgument, prompt

__all__ = ["Message", "Prompt", "PromptArgument", "prompt"]
