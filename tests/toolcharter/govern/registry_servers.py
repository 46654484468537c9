"""Servers that others wrote, installed once from npm and PyPI into a folder of the user's cache."""

from tests.registry_packages import npm_packages, pypi_programs

NPM = tuple(f"@modelcontextprotocol/server-{name}@2026.8.31" for name in ("everything", "filesystem", "memory"))
PYPI = ("mcp-server-git==2026.10.19", "mcp-server-time==2026.10.19")
_SERVERS = {
    "everything": ("npm", "mcp-server-everything"),
    "files": ("npm", "mcp-server-filesystem"),
    "memory": ("npm", "mcp-server-memory"),
    "git": ("pypi", "mcp-server-git"),
    "time": ("pypi", "mcp-server-time"),
}


def server_command(name: str) -> list[str]:
    """The command of a server. Skips the test where it cannot be installed."""
    registry, command = _SERVERS[name]
    folder = npm_packages(*NPM) / ".bin" if registry == "npm" else pypi_programs(*PYPI)
    return [str(folder / command)]
