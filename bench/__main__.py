"""The command: `python -m bench [--quick] [--only NAME ...] [--rounds N] [--write]`."""

import argparse
import json
import sys
import tempfile
import time
from dataclasses import asdict
from pathlib import Path

from bench import (
    atl,
    cold_start,
    console,
    console_pages,
    fuzz,
    govern,
    govern_faults,
    guide,
    http_calls,
    install,
    kills,
    list_calls,
    noema,
    noema_tools,
    readme,
    real_clients,
    report,
    rolling,
    server_load,
    sqlite_calls,
    stages,
    stdio_calls,
    todo,
    verify_speed,
)
from bench.contenders import CONTENDERS, ROOT, TOOLS
from bench.http_calls import Load
from bench.measure import Cell, Sample

PAGE = ROOT / "docs" / "benchmarks.md"
KINDS = (
    *(real_clients.KIND, http_calls.KIND, sqlite_calls.KIND, stdio_calls.KIND, list_calls.KIND),
    *(stages.KIND, cold_start.KIND, verify_speed.KIND),
)


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description="Measure against bare servers, side by side.")
    parser.add_argument(
        "--quick", action="store_true", help="few and short samples, 1 and 1,000 tools: about 4 minutes"
    )
    parser.add_argument(
        "--only",
        action="append",
        default=[],
        choices=[*KINDS, *PAGES, *TRIALS, *CONTENDERS],
        metavar="NAME",
        help=(
            f"a measurement ({', '.join((*KINDS, *PAGES, *TRIALS))}) or a contender ({', '.join(CONTENDERS)}); "
            "may be given several times"
        ),
    )
    parser.add_argument("--rounds", type=int, help="rounds of each measurement")
    parser.add_argument("--kills", type=int, default=kills.KILLS, help=f"servers that `kills` kills [{kills.KILLS:,}]")
    parser.add_argument(
        "--requests", type=int, default=fuzz.REQUESTS, help=f"requests that `fuzz` sends [{fuzz.REQUESTS:,}]"
    )
    parser.add_argument(
        "--minutes",
        type=float,
        default=server_load.SOAK_MINUTES,
        help=f"how long `soak` lasts [{server_load.SOAK_MINUTES:.0f}]",
    )
    parser.add_argument(
        "--sessions",
        type=int,
        default=govern_faults.SESSIONS,
        help=f"sessions that `govern-faults` opens [{govern_faults.SESSIONS:,}]",
    )
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.relative_to(ROOT)}")
    parser.add_argument("--save", type=Path, metavar="FILE", help="keep every sample as JSON")
    parser.add_argument("--load", type=Path, metavar="FILE", help="show what was saved, instead of measuring")
    return parser.parse_args(arguments)


def measure(options: argparse.Namespace) -> dict[Cell, list[Sample]]:
    kinds = [kind for kind in KINDS if kind in options.only] or KINDS
    peers = [peer for peer in CONTENDERS if peer in options.only] or list(CONTENDERS)
    servers = [peer for peer in peers if CONTENDERS[peer].script is not None]
    quick = options.quick
    sizes = (TOOLS[0], TOOLS[-1]) if quick else TOOLS
    samples: dict[Cell, list[Sample]] = {}
    with tempfile.TemporaryDirectory(prefix="bench-") as name:
        folder = Path(name)
        if real_clients.KIND in kinds:
            rounds, calls = options.rounds or (3 if quick else 7), 100 if quick else 300
            samples |= real_clients.measure(peers, rounds, calls, folder, log=progress_log("real clients"))
        if http_calls.KIND in kinds:
            rounds, load = options.rounds or (3 if quick else 5), Load(0.3 if quick else 0.5, 2500)
            samples |= http_calls.measure(peers, sizes, rounds, load, folder, log=progress_log("over HTTP"))
        if sqlite_calls.KIND in kinds:
            rounds, calls = options.rounds or (3 if quick else 7), 200 if quick else 500
            samples |= sqlite_calls.measure(rounds, calls, folder, log=progress_log("SQLite"))
        if stdio_calls.KIND in kinds:
            rounds, calls = options.rounds or (3 if quick else 7), 500 if quick else 1500
            samples |= stdio_calls.measure(servers, rounds, calls, folder, log=progress_log("over stdio"))
        if list_calls.KIND in kinds:
            rounds, lists = options.rounds or (3 if quick else 5), 3 if quick else 10
            samples |= list_calls.measure(servers, rounds, lists, folder, log=progress_log("lists"))
        if stages.KIND in kinds:
            rounds = options.rounds or (3 if quick else 7)
            samples |= stages.measure(rounds, 5000, folder, log=progress_log("steps of a call"))
        if cold_start.KIND in kinds:
            rounds = options.rounds or (3 if quick else 9)
            samples |= cold_start.measure(rounds, folder, log=progress_log("cold start"))
        if verify_speed.KIND in kinds:
            rounds = options.rounds or (1 if quick else 3)
            samples |= verify_speed.measure(rounds, verify_speed.TOOLS, folder, log=progress_log("verification"))
    return samples


def progress_log(what: str):
    started = time.monotonic()
    return lambda words: print(f"{time.monotonic() - started:6.0f} s  {what}: {words}", file=sys.stderr, flush=True)


def command(options: argparse.Namespace) -> str:
    """The command that makes this page again."""
    flags = [
        *(["--quick"] if options.quick else []),
        *(f"--only {name}" for name in options.only),
        *([f"--rounds {options.rounds}"] if options.rounds else []),
        "--write",
    ]
    return f'make bench ARGS="{" ".join(flags)}"'


def rounds_of(samples: dict[Cell, list[Sample]]) -> str:
    taken = sorted({len(taken) for taken in samples.values()})
    return str(taken[0]) if len(taken) == 1 else f"{taken[0]} to {taken[-1]}"


def todo_page(options: argparse.Namespace, folder: Path, made_by: str) -> str:
    rounds, calls = options.rounds or (2 if options.quick else 5), 150 if options.quick else 400
    taken = todo.measure(rounds, calls, folder, log=progress_log("todo"), quick=options.quick)
    return todo.page(taken, made_by, report.machine())


def guide_page(options: argparse.Namespace, folder: Path, made_by: str) -> str:
    taken = guide.run(folder, progress_log("guide"), quick=options.quick)
    return guide.page_of(taken, made_by, report.machine())


def atl_page(options: argparse.Namespace, folder: Path, made_by: str) -> str:
    taken = atl.run(folder, progress_log("atl"), quick=options.quick)
    return atl.page_of(taken, made_by, report.machine())


def noema_page(options: argparse.Namespace, folder: Path, made_by: str) -> str:
    rounds = options.rounds or (50 if options.quick else 250)
    measurements = noema.measure(folder, progress_log("noema"), rounds=rounds, quick=options.quick)
    return noema.page(measurements, made_by, report.machine())


def noema_tools_page(options: argparse.Namespace, folder: Path, made_by: str) -> str:
    figures = noema_tools.measure(folder, progress_log("noema tools"), quick=options.quick)
    return noema_tools.page(figures, made_by, report.machine())


def load_page(options: argparse.Namespace, folder: Path, made_by: str) -> str:
    rounds, seconds = options.rounds or (1 if options.quick else 5), 1.0 if options.quick else 5.0
    figures = server_load.measure(rounds, seconds, folder, progress_log("load"))
    return server_load.page(figures, made_by, report.machine())


def govern_page(options: argparse.Namespace, folder: Path, made_by: str) -> str:
    rounds, load = options.rounds or (3 if options.quick else 7), Load(0.7 if options.quick else 1.5, 5_000)
    figures = govern.measure(rounds, load, folder, progress_log("govern"))
    return govern.page(figures, made_by, report.machine())


def console_page(options: argparse.Namespace, folder: Path, made_by: str) -> str:
    rounds, seconds = options.rounds or (3 if options.quick else 9), 3.0 if options.quick else 6.0
    figures = console.measure(rounds, seconds, folder, progress_log("console"))
    return console.page(figures, made_by, report.machine())


def console_pages_page(options: argparse.Namespace, folder: Path, made_by: str) -> str:
    figures = console_pages.measure(
        options.rounds or (3 if options.quick else 9), folder, progress_log("console-pages")
    )
    return console_pages.page(figures, made_by, report.machine())


def install_page(options: argparse.Namespace, folder: Path, made_by: str) -> str:
    rows = install.measure(options.rounds or (3 if options.quick else 9), folder, progress_log("install"))
    return install.page(rows, made_by, report.machine())


PAGES = {
    server_load.KIND: load_page,
    todo.KIND: todo_page,
    guide.KIND: guide_page,
    atl.KIND: atl_page,
    noema.KIND: noema_page,
    noema_tools.KIND: noema_tools_page,
    govern.KIND: govern_page,
    console.KIND: console_page,
    console_pages.KIND: console_pages_page,
    install.KIND: install_page,
}
"""Servers with a page of their own."""


def run_kills(options: argparse.Namespace, folder: Path) -> bool:
    trials = kills.measure(options.kills, folder, progress_log("kills"))
    print(kills.page(trials))
    return all(trial.is_clean for trial in trials)


def run_fuzz(options: argparse.Namespace, folder: Path) -> bool:
    fuzzed = fuzz.measure(options.requests, folder, progress_log("fuzz"))
    print(fuzz.page(fuzzed))
    return all(one.is_clean for one in fuzzed)


def run_soak(options: argparse.Namespace, folder: Path) -> bool:
    soaked = server_load.soak(options.minutes, folder, progress_log("soak"))
    print(soaked.table())
    return soaked.is_clean


def run_govern_faults(options: argparse.Namespace, folder: Path) -> bool:
    faults = govern_faults.measure(options.sessions, folder, progress_log(govern_faults.KIND))
    print(govern_faults.page(faults))
    return faults.is_clean


def run_rolling(_: argparse.Namespace, folder: Path) -> bool:
    rolled = rolling.measure(folder, progress_log(rolling.KIND))
    print(rolled.page())
    return rolled.is_clean


TRIALS = {
    kills.KIND: run_kills,
    rolling.KIND: run_rolling,
    fuzz.KIND: run_fuzz,
    server_load.SOAK: run_soak,
    govern_faults.KIND: run_govern_faults,
}
"""Trials that take long, and run only when they are named. They fail if a promise is broken."""


def run_trials(options: argparse.Namespace) -> None:
    for name, run in TRIALS.items():
        if name in options.only:
            with tempfile.TemporaryDirectory(prefix="bench-") as folder:
                if not run(options, Path(folder)):
                    sys.exit(f"{name}: a promise is broken")


def write_pages(options: argparse.Namespace) -> None:
    for name, make in PAGES.items():
        if options.only and name not in options.only:
            continue
        with tempfile.TemporaryDirectory(prefix="bench-") as folder:
            text = make(options, Path(folder), f'make bench ARGS="--only {name} --write"')
        print(text)
        if options.write:
            (ROOT / "docs" / f"benchmarks-{name}.md").write_text(text, encoding="utf-8")


def main() -> None:
    options = parse()
    if not options.load:
        run_trials(options)
        write_pages(options)
        if options.only and set(options.only) <= {*PAGES, *TRIALS}:
            return
    if options.load:
        saved = json.loads(options.load.read_text(encoding="utf-8"))
        about, made_by = saved["about"], saved["command"]
        samples = {Cell(**entry["cell"]): entry["samples"] for entry in saved["samples"]}
    else:
        about, made_by = report.machine(), command(options)
        samples = measure(options)
    if options.save:
        entries = [{"cell": asdict(cell), "samples": taken} for cell, taken in samples.items()]
        saved = {"about": about, "command": made_by, "samples": entries}
        options.save.write_text(json.dumps(saved), encoding="utf-8")
    text = report.page(samples, made_by, rounds_of(samples), about)
    print(text)
    if options.write:
        PAGE.write_text(text, encoding="utf-8")
        written = [PAGE, *([readme.README] if readme.write(samples) else [])]
        print(f"Written: {', '.join(str(path.relative_to(ROOT)) for path in written)}", file=sys.stderr)


if __name__ == "__main__":
    main()
