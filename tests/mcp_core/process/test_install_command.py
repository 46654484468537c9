import json
import subprocess
import sys
from pathlib import Path

import pytest

from mcp_core.process.install_command import install_command, source_folder

NAME = "acme-weather"


@pytest.fixture
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """This process, as if it ran in another environment, in the folder that has it; a distribution is installed."""
    folder = tmp_path / "acme"
    (folder / "bin").mkdir(parents=True)
    monkeypatch.setattr(sys, "prefix", str(folder))
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "programs"))
    monkeypatch.chdir(tmp_path)
    information = tmp_path / "acme_weather-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {NAME}\nVersion: 1.0\n")
    monkeypatch.syspath_prepend(tmp_path)
    return folder


def installed_from(environment: Path, **origin: object) -> None:
    (environment.parent / "acme_weather-1.0.dist-info/direct_url.json").write_text(json.dumps(origin))


def test_an_activated_environment_is_changed_by_pip_alone(environment: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("VIRTUAL_ENV", str(environment))
    assert install_command("sql", NAME) == "pip install 'acme-weather[sql]'"


def test_an_environment_that_is_not_activated_is_changed_by_its_own_pip(environment: Path, tmp_path: Path, monkeypatch):
    (environment / "bin/pip").touch()
    assert install_command("sql", NAME) == "acme/bin/pip install 'acme-weather[sql]'"
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert install_command("sql", NAME) == f"{environment}/bin/pip install 'acme-weather[sql]'"


def test_an_environment_of_pipx_is_changed_through_pipx(environment: Path):
    (environment / "pipx_metadata.json").touch()
    assert install_command("sql", NAME) == "pipx runpip acme install 'acme-weather[sql]'"


def test_an_environment_without_pip_is_changed_from_outside(environment: Path, tmp_path: Path):
    assert install_command("sql", NAME) == f"pip --python {environment} install 'acme-weather[sql]'"
    uv = tmp_path / "programs/uv"
    uv.parent.mkdir()
    uv.touch(0o755)
    assert install_command("sql", NAME) == f"uv pip install --python {environment} 'acme-weather[sql]'"


def test_a_command_that_uvx_or_pipx_started_is_started_again_with_the_extra(environment: Path, tmp_path, monkeypatch):
    (tmp_path / "CACHEDIR.TAG").touch()
    monkeypatch.setattr(sys, "argv", [f"{environment}/bin/acme-weather", "http", "--user", "ana b"])
    assert install_command("sql", NAME) == "uvx --from 'acme-weather[sql]' acme-weather http --user 'ana b'"
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "pipx/4f2"))
    assert install_command("sql", NAME) == "pipx run --spec 'acme-weather[sql]' acme-weather http --user 'ana b'"


def test_what_came_from_a_folder_is_installed_from_there_again(environment: Path):
    (environment / "bin/pip").touch()
    assert source_folder(NAME) is None
    installed_from(environment, url="file:///home/ana/my%20clone", dir_info={})
    assert install_command("sql", NAME) == "acme/bin/pip install '/home/ana/my clone[sql]'"
    installed_from(environment, url="file:///home/ana/clone", dir_info={"editable": True})
    assert install_command("sql", NAME) == "acme/bin/pip install --editable '/home/ana/clone[sql]'"
    installed_from(environment, url="https://example.com/acme.whl", archive_info={})
    assert install_command("sql", NAME) == "acme/bin/pip install 'acme-weather[sql]'"


def test_pip_takes_the_environment_as_it_is_written():
    command = [sys.executable, "-m", "pip", "--python", sys.prefix, "install", "--help"]
    assert subprocess.run(command, check=False, capture_output=True).returncode == 0
