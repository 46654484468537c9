"""What the examples of the commands need beside the sandbox: a place for credentials that is gone afterwards."""

import tempfile
from pathlib import Path

from mcp_atl.command import Server
from mcp_atl.sites.store import CredentialStore
from toolcharter import App


async def prepare_examples(app: App) -> None:
    """Keep credentials in a folder of their own."""
    folder = Path(tempfile.mkdtemp(prefix="toolcharter-example-"))
    app.provided(Server).sites.keep_in(CredentialStore(folder / "sites.json", None))
