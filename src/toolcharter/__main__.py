"""`python -m toolcharter` is `toolcharter`."""

from toolcharter.cli import main

main()
