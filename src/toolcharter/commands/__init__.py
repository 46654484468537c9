"""The subcommands of `toolcharter`, one a file: `add_arguments(parser)`, `run(options) -> exit code`, `CannotRun`."""
