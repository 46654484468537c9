"""The subcommands of `toolcharter`, one in each file, with `add_arguments(parser)` and `run(options) -> exit code`."""


class CannotRun(Exception):
    """A command cannot do its work, such as for a server that cannot be reached. The message says why."""
