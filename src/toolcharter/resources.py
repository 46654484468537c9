"""Resources, fixed or by template."""

from mcp_core.declare.resources import Content, Resource, ResourcePage, ResourceSource, ResourceTemplate, page_of

__all__ = ["Content", "Resource", "ResourcePage", "ResourceSource", "ResourceTemplate", "page_of"]
