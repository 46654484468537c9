"""What an audit file has, for tests."""

import json
from pathlib import Path
from typing import Any

import pytest

CHAIN = ("chain", "seq", "prev", "hash", "hmac")


def audited(path: Path) -> list[dict[str, Any]]:
    """The records of requests, without the members of the chain."""
    lines = path.read_text(encoding="utf-8").splitlines()
    records = [json.loads(line, parse_constant=pytest.fail) for line in lines if line]
    return [{k: v for k, v in record.items() if k not in CHAIN} for record in records if "event" not in record]
