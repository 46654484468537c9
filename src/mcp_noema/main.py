"""The command `mcp-noema`."""

from toolcharter.ctrl_c import EndsProcess


def main() -> None:
    """Serve the learning tools."""
    with EndsProcess():
        from mcp_noema.app import DESCRIPTION, build  # noqa: PLC0415 - 400 ms, with the framework
        from toolcharter import run  # noqa: PLC0415 - as above
    run(build, about=DESCRIPTION)
