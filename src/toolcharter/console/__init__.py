"""The web console: pages for people beside the MCP endpoints, at `/` and below `/console/`.

console         the routes of all pages, and the checks before each of them
  viewer        who looks at a page: the caller at each server
  sessions      signed-in browsers; csrf is the proof that a change comes from a page of ours
  headers       the headers of every response: the content security policy and others
  forward       calls from the browser to the MCP endpoint of a server
page            `ConsolePage`, `View`: what a page is made of and what it is given
  layout        the frame of all pages; markup makes HTML in which everything is escaped
  static_files  files in static/, below a path with their digest
pages/          one page in each file, found by itself
server_pages    pages that a server brings along: `mcp_todo.console` is one
calls           calls of tools by a page, with the rights of the person who looks

To add a page `NAME`, write `pages/NAME.py` with `PAGES`, a list of `ConsolePage`. A script of its own is
`static/NAME.js`, an ES module, and a style sheet `static/NAME.css`; name them in `view.page(...)`. Neither may contain
HTML: scripts make elements with `element` of `static/dom.js`, and the browser refuses everything else. Calls of tools
go through `callTool` of `static/mcp.js`, with the rights of the person who looks. A page with `changes=True` answers
POST, and is asked only if the request has the CSRF token: `post` of `static/requests.js` sends it, as does a form with
`view.csrf_field()`.
"""

from toolcharter.console.calls import ToolAnswer, ToolFailed
from toolcharter.console.console import Console
from toolcharter.console.page import ConsolePage, View
from toolcharter.console.pieces import copyable, shortcut, tag
from toolcharter.output.markup import Html, element, join

__all__ = [
    "Console",
    "ConsolePage",
    "Html",
    "ToolAnswer",
    "ToolFailed",
    "View",
    "copyable",
    "element",
    "join",
    "shortcut",
    "tag",
]
