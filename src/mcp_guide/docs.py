"""What docs/generate.py needs of this server, besides its tools."""

from mcp_guide.settings import GuideSettings

SETTINGS = GuideSettings
