"""Prompts and their messages."""

from mcp_core.declare.prompts import Embedded, Message, Prompt, PromptArgument, prompt

__all__ = ["Embedded", "Message", "Prompt", "PromptArgument", "prompt"]
