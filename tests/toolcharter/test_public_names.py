import subprocess
import sys
from importlib.metadata import version

import pytest

import mcp_core
import toolcharter


def test_the_public_names_are_those_of_the_framework_and_run():
    assert sorted(toolcharter.__all__) == sorted([*mcp_core.__all__, "run"])
    assert issubclass(toolcharter.App, mcp_core.App)
    same = set(mcp_core.__all__) - {"App"}
    assert {name: getattr(toolcharter, name) for name in same} == {name: getattr(mcp_core, name) for name in same}


def test_importing_the_public_names_loads_no_more_than_the_framework():
    code = (
        "import sys, mcp_core.public, mcp_core.run; before = {*sys.modules}; from toolcharter import App, run; "
        "print(sorted({*sys.modules} - before))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "['toolcharter', 'toolcharter.app', 'toolcharter.ctrl_c', 'toolcharter.start']\n"


def test_dir_and_completion_have_the_public_names_in_a_new_interpreter():
    code = (
        "import toolcharter, rlcompleter; print(toolcharter.__version__, 'App' in dir(toolcharter), "
        "rlcompleter.Completer({'toolcharter': toolcharter}).complete('toolcharter.Ap', 0))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == f"{version('toolcharter')} True toolcharter.App(\n"


def test_a_name_that_is_not_public_is_refused():
    with pytest.raises(AttributeError, match="module 'toolcharter' has no attribute 'Server'"):
        _ = toolcharter.Server
