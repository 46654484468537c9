"""Prompts and their messages."""

from mcp_core.declare.completion import Argument
from mcp_core.declare.prompts import Message, Prompt, PromptArgument, prompt

__all__ = ["Argument", "Message", "Prompt", "PromptArgument", "prompt"]
