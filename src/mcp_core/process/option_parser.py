"""The parser of every command line."""

import argparse
import difflib
from typing import NoReturn


class OptionParser(argparse.ArgumentParser):
    """Answers a mistyped option with the nearest one."""

    def error(self, message: str) -> NoReturn:
        wrong = message.removeprefix("unrecognized arguments: ").split(" ")[0] if "unrecognized" in message else ""
        nearest = difflib.get_close_matches(wrong, self._option_string_actions, n=1) if wrong else []
        super().error(f"{message}; did you mean {nearest[0]}?" if nearest else message)
