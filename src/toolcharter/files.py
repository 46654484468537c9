"""Files: folders that are not left, private files, TOML."""

from mcp_core.files.folder import Folder, new_file, open_file
from mcp_core.files.private_file import locked, write_private
from mcp_core.files.toml_file import TomlFile, read_toml

__all__ = ["Folder", "TomlFile", "locked", "new_file", "open_file", "read_toml", "write_private"]
