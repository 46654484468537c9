"""Files: folders that are not left, private files, TOML."""

from mcp_core.folder import Folder, new_file, open_file
from mcp_core.private_file import write_private
from mcp_core.toml_file import TomlFile, read_toml

__all__ = ["Folder", "TomlFile", "new_file", "open_file", "read_toml", "write_private"]
