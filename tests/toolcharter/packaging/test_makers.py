"""What `toolcharter package` writes for our servers, read by the validators and schemas of those who made the formats.

| what                    | read by                                                                             |
|-------------------------|-------------------------------------------------------------------------------------|
| server.json             | the registry's own schema 2025-12-11 and its rules for names and versions (skillsaw) |
| the bundle              | `mcpb validate` of @anthropic-ai/mcpb                                                |
| the plugin, its skills  | `claude plugin validate --strict`, and an installation, by Claude Code; skillsaw     |
| Dockerfile              | hadolint                                                                            |
| compose.yaml, check.yml | the schemas of Compose and of GitHub Actions (check-jsonschema)                      |
| links                   | a reading of the fields, in test_links.py: neither editor has a validator            |

The first two programs come from npm, once, with `--thorough`; on other days they are used if they are in the cache.
"""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.registry_packages import npm_packages_if_cached
from tests.thorough import VARIABLE
from toolcharter.local import targets
from toolcharter.packaging.bundle import manifest
from toolcharter.packaging.folder import package_files, write_files
from toolcharter.packaging.json_file import json_text
from toolcharter.packaging.published import read_server

MCPB = "@anthropic-ai/mcpb@2.1.2"
CLAUDE_CODE = "@anthropic-ai/claude-code@2.1.197"
SERVERS = targets.installed()
NAMESPACE = "io.github.toolcharter"
PROGRAMS = Path(sysconfig.get_path("scripts"))
PATIENCE = 100
QUIET = {"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1"}


@pytest.fixture(scope="module")
def packaged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that has everything for all our servers."""
    output = tmp_path_factory.mktemp("packaged")
    write_files(package_files([read_server(name, namespace=NAMESPACE) for name in SERVERS], output), output)
    return output


def run(*command: str | Path, **environment: str) -> str:
    """The output of a command that must succeed."""
    variables = os.environ | environment
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False, env=variables)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def lint(folder: Path) -> dict[str, Any]:
    """What skillsaw finds."""
    command = [PROGRAMS / "skillsaw", "lint", "--format", "json", folder]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    return json.loads(done.stdout)


@pytest.mark.requirement("PKG-3")
def test_the_registry_s_schema_and_the_rules_for_plugins_and_skills_accept_everything(packaged: Path):
    found = lint(packaged)
    assert found["violations"] == []
    assert set(found["stats"]["repo_types"]) == {"mcp-registry", "marketplace", "agentskills"}
    assert (found["stats"]["plugins"], found["stats"]["skills"]) == (len(SERVERS), 14)


def test_the_registry_s_schema_is_really_asked_about_each_server(packaged: Path, tmp_path: Path):
    for server in SERVERS:
        entry = json.loads((packaged / server / "server.json").read_text())
        (tmp_path / server).mkdir()
        (tmp_path / server / "server.json").write_text(json.dumps(entry | {"description": "x" * 101}))
    found = [(one["rule_id"], Path(one["file_path"]).parent.name) for one in lint(tmp_path)["violations"]]
    assert sorted(found) == [("mcp-registry-server-json-valid", server) for server in SERVERS]


@pytest.mark.requirement("PKG-3")
def test_the_linter_of_dockerfiles_and_the_schema_of_compose_have_nothing_to_say(packaged: Path):
    assert run(PROGRAMS / "hadolint", *packaged.glob("*/Dockerfile")) == ""
    schema = ("--builtin-schema", "vendor.compose-spec")
    assert "ok" in run(PROGRAMS / "check-jsonschema", *schema, *packaged.glob("*/compose.yaml"))


@pytest.mark.requirement("PKG-3")
@pytest.mark.parametrize("server", SERVERS)
def test_the_maker_of_bundles_accepts_the_manifest(server: str, packaged: Path, tmp_path: Path):
    mcpb = npm_packages_if_cached(MCPB) / ".bin" / "mcpb"
    with zipfile.ZipFile(next((packaged / server).glob("*.mcpb"))) as bundle:
        bundle.extractall(tmp_path / "bundle")
    assert "passes" in run(mcpb, "validate", tmp_path / "bundle")


@pytest.mark.requirement("PKG-3")
def test_the_maker_of_bundles_accepts_the_manifest_of_one_with_libraries(tmp_path: Path):
    mcpb = npm_packages_if_cached(MCPB) / ".bin" / "mcpb"
    made = manifest(read_server("atl", namespace=NAMESPACE), "python")
    assert (made["manifest_version"], made["server"]["type"]) == ("0.3", "python")
    (tmp_path / "manifest.json").write_text(json_text(made))
    assert "passes" in run(mcpb, "validate", tmp_path / "manifest.json")


def claude_code() -> Path:
    """The program itself: the script that npm would run chooses the one for this platform."""
    programs = list((npm_packages_if_cached(CLAUDE_CODE) / "@anthropic-ai").glob("claude-code-*/claude"))
    if not programs:
        pytest.skip("Claude Code has no program for this platform")
    return programs[0]


@pytest.mark.requirement("PKG-3")
def test_claude_code_accepts_the_marketplace_and_the_plugins(packaged: Path, tmp_path: Path):
    claude = claude_code()
    for place in (".", "plugins/guide", "plugins/todo"):
        run(claude, "plugin", "validate", "--strict", packaged / place, HOME=str(tmp_path), **QUIET)


@pytest.mark.skipif(VARIABLE not in os.environ, reason="takes 6 s of CPU; --thorough runs it")
def test_claude_code_installs_the_plugins_and_reaches_their_servers(packaged: Path, tmp_path: Path):
    claude = claude_code()
    # In place of uvx, which would ask a package index: what it would run, from this environment.
    uvx = tmp_path / "bin" / "uvx"
    uvx.parent.mkdir()
    uvx.write_text(f'#!{sys.executable}\nimport os, sys\nos.execv(f"{PROGRAMS}/{{sys.argv[3]}}", sys.argv[3:])\n')
    uvx.chmod(0o755)
    environment = QUIET | {"HOME": str(tmp_path), "PATH": f"{uvx.parent}:{os.environ['PATH']}"}
    marketplace = shutil.copytree(packaged, tmp_path / "marketplace")
    run(claude, "plugin", "marketplace", "add", marketplace, **environment)
    for server in SERVERS:
        run(claude, "plugin", "install", f"{server}@toolcharter", **environment)
    assert "Skills (11)" in run(claude, "plugin", "details", "guide@toolcharter", **environment)
    reached = run(claude, "mcp", "list", **environment)
    assert [server for server in SERVERS if f"plugin:{server}:{server}: uvx" not in reached] == []
    assert reached.count("Connected") == len(SERVERS), reached
