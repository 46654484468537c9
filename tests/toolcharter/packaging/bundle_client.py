"""How a client starts the server of an unpacked bundle, as `getMcpConfigForManifest` of @anthropic-ai/mcpb does it."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import uv
from mcp import StdioServerParameters

PLACEHOLDER = re.compile(r"\$\{([^}]+)\}")


def start_of(bundle: Path, environment: Path, **answers: str) -> StdioServerParameters:
    """The command of a bundle, with the answers of its user.

    uv uses an environment that exists, in place of one that it would make with what it fetches.
    """
    manifest = json.loads((bundle / "manifest.json").read_text())
    config = client_config(manifest, bundle, answers)
    assert config["command"] == "uv"
    return StdioServerParameters(
        command=uv.find_uv_bin(),
        args=config["args"],
        env={
            "UV_PROJECT_ENVIRONMENT": str(environment),
            "UV_NO_SYNC": "1",
            "UV_OFFLINE": "1",
            "HOME": str(bundle.parent),
            **config["env"],
        },
    )


def client_config(manifest: Mapping[str, Any], folder: Path, answers: Mapping[str, str]) -> dict[str, Any]:
    """The start with its variables replaced. One that has neither an answer nor a default stays as it is."""
    defaults = {name: one["default"] for name, one in manifest.get("user_config", {}).items() if "default" in one}
    known = {f"user_config.{name}": _text(value) for name, value in (defaults | dict(answers)).items()}
    known["__dirname"] = str(folder)

    def replaced(value: Any) -> Any:
        if isinstance(value, str):
            return PLACEHOLDER.sub(lambda found: known.get(found[1], found[0]), value)
        if isinstance(value, list):
            return [replaced(one) for one in value]
        return {name: replaced(one) for name, one in value.items()}

    return {name: replaced(value) for name, value in manifest["server"]["mcp_config"].items()}


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
