import subprocess
import sys

import mcp_core
import toolcharter


def test_the_public_names_are_those_of_the_framework_and_run():
    assert sorted(toolcharter.__all__) == sorted([*mcp_core.__all__, "run"])
    assert {name: getattr(toolcharter, name) for name in mcp_core.__all__} == {
        name: getattr(mcp_core, name) for name in mcp_core.__all__
    }


def test_importing_the_public_names_loads_no_more_than_the_framework():
    code = (
        "import sys, mcp_core.run; before = {*sys.modules}; from toolcharter import App, run; "
        "print(sorted({*sys.modules} - before))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "['toolcharter', 'toolcharter.ctrl_c', 'toolcharter.start']\n"
