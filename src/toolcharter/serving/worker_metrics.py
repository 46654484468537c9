"""One text of metrics for several workers: counters and histograms are added up, gauges are shown for each worker."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(slots=True)
class _Family:
    """The lines of one metric."""

    kind: str
    comments: list[str]
    values: dict[str, float] = field(default_factory=dict[str, float])


class WorkerMetrics:
    """Adds up the metrics of workers. Those that have ended stay counted, so that no counter ever falls."""

    def __init__(self) -> None:
        self._ended: dict[str, _Family] = {}

    def end(self, text: str) -> None:
        """Keep the counters and histograms of a worker that has ended."""
        for name, family in _parse(text).items():
            if family.kind != "gauge":
                _add(self._ended, name, family)

    def combine(self, texts: Mapping[int, str]) -> str:
        """The metrics of all workers that run, by number, with those that have ended."""
        total: dict[str, _Family] = {}
        for worker, text in texts.items():
            for name, family in _parse(text).items():
                _add(total, name, _labelled(family, worker) if family.kind == "gauge" else family)
        for name, family in self._ended.items():
            _add(total, name, family)
        return "".join(_write(family) for family in total.values())


def _parse(text: str) -> dict[str, _Family]:
    families: dict[str, _Family] = {}
    family = _Family("gauge", [])
    comments: list[str] = []
    for line in text.splitlines():
        if line.startswith("#"):
            comments.append(line)
            if line.startswith("# TYPE "):
                _, _, name, kind = line.split(" ", 3)
                family = families[name] = _Family(kind, comments)
                comments = []
        elif line:
            sample, _, value = line.rpartition(" ")
            family.values[sample] = float(value)
    return families


def _add(total: dict[str, _Family], name: str, family: _Family) -> None:
    into = total.setdefault(name, _Family(family.kind, family.comments))
    for sample, value in family.values.items():
        into.values[sample] = into.values.get(sample, 0.0) + value


def _labelled(family: _Family, worker: int) -> _Family:
    label = f'worker="{worker}"'
    values = {
        f"{sample[:-1]},{label}}}" if sample.endswith("}") else f"{sample}{{{label}}}": value
        for sample, value in family.values.items()
    }
    return _Family(family.kind, family.comments, values)


def _write(family: _Family) -> str:
    rows = [f"{sample} {_number(value)}" for sample, value in family.values.items()]
    return "\n".join([*family.comments, *rows]) + "\n"


def _number(value: float) -> str:
    return str(int(value)) if value.is_integer() else str(round(value, 9))
