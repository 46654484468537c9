from mcp_atl.sandbox.jira import issues, projects, search, users

ROUTES = [issues.routes, projects.routes, search.routes, users.routes]
