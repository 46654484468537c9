"""Content blocks of answers and prompts: images, sounds, files, links and texts."""

from mcp_core.content.blocks import Annotations, Audio, File, Image, ResourceLink, Text

__all__ = ["Annotations", "Audio", "File", "Image", "ResourceLink", "Text"]
