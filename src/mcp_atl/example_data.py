"""Data for the examples of the commands besides the sandbox: places for credentials and files."""

import tempfile
from pathlib import Path

from mcp_atl.command import CommandEnvironment
from mcp_atl.sites.store import CredentialStore
from toolcharter import App
from toolcharter.keyring import no_keyring


async def prepare_examples(app: App) -> None:
    """Keep credentials and files in a folder of their own."""
    folder = Path(tempfile.mkdtemp(prefix="toolcharter-example-"))
    server = app.provided(CommandEnvironment)
    server.sites.keep_in(CredentialStore(folder / "sites.json", no_keyring))
    (folder / "notes.txt").write_text("What to test before the release.\n", encoding="utf-8")
    server.files.keep_in(folder)
