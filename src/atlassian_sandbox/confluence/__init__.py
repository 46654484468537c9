from atlassian_sandbox.confluence import attachments, comments, content, page_parts, pages, search, spaces, users

ROUTES = [
    attachments.routes,
    attachments.routes_v2,
    attachments.downloads,
    comments.routes,
    content.routes,
    page_parts.routes,
    pages.routes,
    search.routes,
    spaces.routes,
    users.routes,
    users.routes_v2,
]
