from mcp_atl.sandbox.confluence import pages
from mcp_atl.sandbox.http import Routes

ROUTES: list[Routes] = [pages.routes]
