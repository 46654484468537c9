"""Settings as people write them: with comments, empty lines and every layout that a format allows.

They are made from a number: Hypothesis would need a hundred choices for each, and as many milliseconds.
"""

import json
from random import Random
from typing import Any

import yaml

TEXTS = (
    *(
        "",
        "x",
        "two words",
        "// no comment",
        "# none",
        '"quoted"',
        "{a,}",
        "[x]",
        "\\",
        "a\nb",
        "'",
        '"""',
        "tab\there",
    ),
    *("é🙂", "null", "- x", "yes", "1.0", "a: b", " padded ", "\x7f", "%TAG", "@at", "C:\\Users\\ana", "a\u2028b", "~"),
)


class Settings:
    """Random settings in each format, with servers below one member or without it."""

    def __init__(self, seed: int, member: str) -> None:
        self.random, self.member, self._comments = Random(seed), member, 0

    def text(self, kind: str) -> str:
        return {"json": self._jsonc, "toml": self._toml, "yaml": self._yaml}[kind]()

    def entry(self) -> dict[str, Any]:
        """A server as a client has it."""
        found: dict[str, Any] = {"command": self._pick(*TEXTS), "args": self._several(lambda: self._pick(*TEXTS))}
        return found | ({"env": {self._name(): self._pick(*TEXTS)}} if self._chance() else {})

    def _data(self) -> dict[str, Any]:
        others = {f"o{self._name()}": self._value(2) for _ in range(self.random.randrange(4))}
        servers = {
            self._name(): self.entry() if self._chance() else self._mapping(2)
            for _ in range(1 + self.random.randrange(3))
        }
        members = [*others.items(), *([(self.member, servers)] if self._chance() else [])]
        self.random.shuffle(members)
        return dict(members)

    def _value(self, depth: int) -> Any:
        if depth and self._chance(0.4):
            return self._mapping(depth - 1) if self._chance() else self._several(lambda: self._value(depth - 1))
        return self._pick(*TEXTS, 0, -7, 3.5, True, False)

    def _mapping(self, depth: int) -> dict[str, Any]:
        return {self._name(): self._value(depth) for _ in range(self.random.randrange(4))}

    def _several(self, make: Any) -> list[Any]:
        return [make() for _ in range(self.random.randrange(4))]

    def _name(self) -> str:
        return "".join(self.random.choices("abcXYZ_09-", k=self.random.randint(1, 5)))

    def _pick(self, *choices: Any) -> Any:
        return self.random.choice(choices)

    def _chance(self, share: float = 0.5) -> bool:
        return self.random.random() < share

    def _comment(self) -> str:
        self._comments += 1
        return f"note{self._comments}"

    # --- JSON with comments

    def _jsonc(self) -> str:
        self._spaces = self._pick(("",), ("\n",), ("", " ", "\n", "\r\n", "\n  ", "\t"))
        self._commented = self._chance()
        return self._space() + self._json(self._data()) + self._space()

    def _space(self) -> str:
        if self._commented and self._chance(0.3):
            return self._pick(f" // {self._comment()} , }} \n", f" /* {self._comment()} ] */ ")
        return self._pick(*self._spaces)

    def _json(self, value: Any) -> str:
        if isinstance(value, dict):
            parts = [f"{json.dumps(key)}{self._space()}:{self._space()}{self._json(one)}" for key, one in value.items()]
            return self._brackets("{}", parts)
        if isinstance(value, list):
            return self._brackets("[]", [self._json(one) for one in value])
        return json.dumps(value, ensure_ascii=self._chance())

    def _brackets(self, brackets: str, parts: list[str]) -> str:
        if not parts:
            return brackets  # only white space in it would not come back
        inside = ",".join(f"{self._space()}{part}{self._space()}" for part in parts)
        return f"{brackets[0]}{inside}{self._pick('', ',')}{self._space()}{brackets[1]}"

    # --- TOML

    def _toml(self) -> str:
        lines: list[str] = []
        tables = [
            self._pick([f"t{self._name()}"], [self.member, self._name()]) for _ in range(self.random.randrange(4))
        ]
        for keys in [[], *{str(keys): keys for keys in tables}.values()]:
            lines += self._pick([], [""], [f"# {self._comment()} [x]"], ["", f"  # {self._comment()} = 1", ""])
            lines += [f"[{'.'.join(keys)}]{self._pick('', f' # {self._comment()}')}"] if keys else []
            for key in {f"k{self._name()}" for _ in range(self.random.randrange(3))}:
                lines.append(f"{key} = {self._toml_value()}{self._pick('', f'  # {self._comment()}')}")
        text = "\n".join(lines) + self._pick("", "\n", "\n\n")
        return text.replace("\n", "\r\n") if self._chance(0.2) else text

    def _toml_value(self) -> str:
        text = json.dumps(self._pick(*TEXTS), ensure_ascii=False).replace("\x7f", "")
        array, table = f"[\n  {text}, # {self._comment()}\n  '[y]'\n]", f'"""\n[{self.member}.no]\n"""'
        return self._pick(text, array, table, f"{{ a = {text} }}", "'''#'''", "1979-05-27", "0.5", '"""a""""')

    # --- YAML

    def _yaml(self) -> str:
        data = self._data()
        style = self._pick(False, False, None)
        lines = yaml.safe_dump(data, default_flow_style=style, allow_unicode=True, sort_keys=False).splitlines()
        text = "".join(f"{self._before()}{line}\n" for line in lines) + self._pick("", "\n", f"# {self._comment()}\n")
        text = text.rstrip("\n") if self._chance(0.3) else text
        text = text.replace("\n", "\r\n") if self._chance(0.2) else text
        try:
            is_same = (yaml.safe_load(text) or {}) == data
        except yaml.YAMLError:
            is_same = False
        return text if is_same else yaml.safe_dump(data, allow_unicode=True, sort_keys=False)

    def _before(self) -> str:
        return self._pick("", "", "", "\n", f"# {self._comment()}: x\n", f"      # {self._comment()}\n")
