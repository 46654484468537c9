"""The text format of a product at a site, and Markdown to and from it.

              Jira           Confluence
Cloud         ADF            ADF
Data Center   wiki markup    storage format
"""

from typing import Any, cast

from mcp_atl.convert.markdown_reader import MarkdownReader
from mcp_atl.convert.markdown_writer import MarkdownWriter
from mcp_atl.convert.nodes import Node, children
from mcp_atl.convert.storage_reader import storage_to_document
from mcp_atl.convert.storage_writer import document_to_storage
from mcp_atl.convert.wiki_reader import wiki_to_document
from mcp_atl.convert.wiki_writer import document_to_wiki
from mcp_atl.site import AtlassianSite, Product


def to_markdown(site: AtlassianSite, product: Product, text: Any) -> str:
    """A description, a comment or a page as Markdown."""
    if not text:
        return ""
    if isinstance(text, dict):
        return MarkdownWriter().blocks(children(cast(Node, text)))
    if site.is_cloud:
        return str(text)  # a plain text field
    document = wiki_to_document(str(text)) if product == "jira" else storage_to_document(str(text))
    return MarkdownWriter().blocks(children(document))


def from_markdown(site: AtlassianSite, product: Product, markdown: str) -> Any:
    """Markdown in the format that the product takes at this site."""
    document = MarkdownReader().document(markdown)
    if site.is_cloud:
        return document
    return document_to_wiki(document) if product == "jira" else document_to_storage(document)
