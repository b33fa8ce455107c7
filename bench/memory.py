"""
What a long run costs: memory and time per exchange from the 10,000th to the 1,000,000th event, and with adversarial input.

    python bench/memory.py [--events N] [--logs]

Prints three tables. Long runs: for runs in which nothing repeats and for looping ones, in one process each, the memory of the process, the
size of the saved state, and the microseconds of an exchange, each at 1 %, 10 % and 100 % of the events. Adversarial runs and texts: the
cost of one event, or of one character of a result and of a response, for a size and for two and four times as much; where cost is
linear the ratio of the last to the first is 1. With `--logs`: memory and time of `unstuck scan` for a log of 3 MB and one of 300 MB (as in
`tests/test_scan_memory.py`). Exit status 1 where something grows: memory by over a tenth, cost by over a half.
"""

from __future__ import annotations

import argparse
import json
import platform
import random
import runpy
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from importlib.metadata import version
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

from adversaries import RUNS, TEXTS, exchange
from unstuck.degenerate import TextWatch
from unstuck.events import Event
from unstuck.monitor import Monitor

ROOT = Path(__file__).resolve().parent.parent
Load = TypeVar("Load")

PER_EXCHANGE = 3
"""Events: a response, a call, a result."""
FLAT, LINEAR = 1.1, 1.5
TRIES = 5


def fresh() -> Iterator[Event]:
    """Nothing comes twice."""
    for number in count(1):
        args = {"path": f"src/{number}.py", "line": number}
        yield from exchange(number, "read_file", args, f"{number}: " + "some words that are not new " * 8 + f"{number}")


def stuck() -> Iterator[Event]:
    """One call with one result."""
    for number in count(1):
        yield from exchange(number, "read_file", {"path": "a.py"}, "the same text " * 16)


def cycling() -> Iterator[Event]:
    """Laps of five calls whose results differ by a clock."""
    for number in count(1):
        content = f"[12:{number // 60 % 60:02}:{number % 60:02}] step {number % 5} failed: no such table"
        yield from exchange(number, f"tool_{number % 5}", {"step": number % 5}, content, "error")


def mixed() -> Iterator[Event]:
    """Loops of one to six calls begin and end among calls that are new."""
    choose, number = random.Random(0), 0
    for begin in count():
        lap = [(f"tool_{choose.randrange(9)}", {"at": begin * 10 + index}) for index in range(choose.randrange(1, 7))]
        for tool, args in lap * choose.randrange(1, 9):
            number += 1
            yield from exchange(number, tool, args, f"what stands at {args['at']}")


STREAMS: dict[str, Callable[[], Iterator[Event]]] = {
    "nothing repeats": fresh,
    "one call, one result": stuck,
    "laps of five, a clock": cycling,
    "loops among new calls": mixed,
}


def resident() -> float:
    """Megabytes that this process holds now (Linux) or held at most (elsewhere)."""
    status = Path("/proc/self/statm")
    if status.exists():
        import resource

        return int(status.read_text().split()[1]) * resource.getpagesize() / 1e6
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1e6 if sys.platform == "darwin" else 1e3)


def long_run(name: str, events: int) -> list[list[float]]:
    """Watch one run; at each stage: events, megabytes, kilobytes of saved state, microseconds an exchange since half of it."""
    monitor, stream = Monitor(), STREAMS[name]()
    found, seen = [], 0
    for stage in (events // 100, events // 10, events):
        _watch(monitor, stream, stage - min(stage // 2, 30_000) - seen)
        took = _watch(monitor, stream, min(stage // 2, 30_000))
        seen = stage
        found.append([stage, resident(), len(monitor.dump()) / 1000, took / 1000 * PER_EXCHANGE])
    return found


def _watch(monitor: Monitor, stream: Iterator[Event], events: int) -> float:
    """Nanoseconds of processor time for each of the next *events*, made beforehand a thousand at a time."""
    taken = 0
    for begin in range(0, events, 1_000):
        batch = [next(stream) for _ in range(min(1_000, events - begin))]
        start = time.process_time_ns()
        for event in batch:
            monitor.observe(event)
        taken += time.process_time_ns() - start
    return taken / max(1, events)


def long_runs(events: int) -> list[str]:
    """Print the first table; return what grows."""
    print(f"{'long runs':26}{'events':>10}{'memory MB':>12}{'state KB':>10}{'µs/exchange':>13}")
    grown = []
    for name in STREAMS:
        command = [sys.executable, __file__, "--events", str(events), "--one", name]
        rows = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        for row in rows:
            print(f"{name:26}{row[0]:10.0f}{row[1]:12.1f}{row[2]:10.1f}{row[3]:13.1f}")
            name = ""  # noqa: PLW2901 - once is enough
        memory, cost = rows[-1][1] / rows[0][1], rows[-1][3] / rows[0][3]
        print(f"{'last to first':>36}{memory:12.2f}{rows[-1][2] / rows[0][2]:10.2f}{cost:13.2f}")
        if memory > FLAT or cost > LINEAR:
            grown.append(f"a long run grows: memory {memory:.2f} ×, cost {cost:.2f} ×")
    return grown


def cheapest(work: Callable[[Load], None], load: Load) -> float:
    """Nanoseconds of processor time that *work* takes for *load*, the least of some tries."""
    taken = []
    for _ in range(TRIES):
        start = time.process_time_ns()
        work(load)
        taken.append(time.process_time_ns() - start)
    return min(taken)


def watched(events: list[Event]) -> None:
    """One run under a fresh monitor."""
    monitor = Monitor()
    for event in events:
        monitor.observe(event)


def result_text(text: str) -> list[Event]:
    """A run in which one call comes to *text* four times, each time with another end, so that masking has to look."""
    return [
        event for number in range(1, 5) for event in exchange(number, "read", {"at": 1}, f"{text} {number} {number}{number}")
    ]


def streamed(text: str) -> None:
    """A response that arrives in pieces of 20 characters."""
    watch = TextWatch()
    for begin in range(0, len(text), 20):
        watch.feed(text[begin : begin + 20])
    watch.end()


def adversaries() -> list[str]:
    """Print the second table; return what is not linear."""
    grown = []

    def row(name: str, sizes: tuple[int, ...], costs: list[float], unit: str) -> None:
        ratio = costs[-1] / costs[0]
        print(f"{name:44}" + "".join(f"{cost:11.2f}" for cost in costs) + f"{ratio:9.2f}")
        if ratio > LINEAR:
            grown.append(f"{name}: {ratio:.2f} × as much per {unit} at {sizes[-1]:,} as at {sizes[0]:,}")

    sizes = (2_000, 4_000, 8_000)
    print(f"\n{'adversarial runs: ns per event, exchanges':44}" + "".join(f"{size:11,}" for size in sizes) + f"{'ratio':>9}")
    for name, make in RUNS.items():
        runs = [list(make(size)) for size in sizes]
        row(name, sizes, [cheapest(watched, events) / len(events) for events in runs], "event")
    sizes = (50_000, 100_000, 200_000)
    print(f"\n{'adversarial texts: ns per character':44}" + "".join(f"{size:11,}" for size in sizes) + f"{'ratio':>9}")
    for name, write in TEXTS.items():
        texts = [write(size) for size in sizes]
        costs = [cheapest(watched, result_text(text)) / 4 / len(text) for text in texts]
        row(f"{name}, as a result", sizes, costs, "character")
        row(f"{name}, as a response", sizes, [cheapest(streamed, text) / len(text) for text in texts], "character")
    return grown


def logs() -> list[str]:
    """Print the third table; return what grows."""
    parts = runpy.run_path(str(ROOT / "tests" / "test_scan_memory.py"))
    print(f"\n{'scanned logs':20}{'calls':>10}{'peak MB':>10}{'seconds':>10}{'MB/s':>8}")
    peaks = []
    with TemporaryDirectory() as folder:
        for megabytes in (3, 300):
            path = Path(folder) / f"{megabytes}.jsonl"
            parts["log"](path, megabytes)
            start = time.perf_counter()
            calls, peak = parts["scanned"](path)
            took = time.perf_counter() - start
            peaks.append(peak)
            print(f"{megabytes:>4} MB{'':13}{calls:10}{peak / 1024:10.1f}{took:10.1f}{megabytes / took:8.1f}")
    ratio = peaks[1] / peaks[0]
    print(f"{'last to first':>30}{ratio:10.2f}")
    return [f"a log of 300 MB takes {ratio:.2f} × the memory of one of 3 MB"] if ratio > FLAT else []


def main() -> int:
    """Print the tables; return 1 where something grows."""
    parser = argparse.ArgumentParser(description="Memory and time of long and of adversarial runs.")
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--logs", action="store_true")
    parser.add_argument("--one", choices=list(STREAMS), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(long_run(options.one, options.events)))
        return 0
    print(f"Python {platform.python_version()}, unstuck {version('unstuck')}, preset default, processor time\n")
    grown = long_runs(options.events) + adversaries() + (logs() if options.logs else [])
    print("\n" + ("\n".join(grown) if grown else "nothing grows"))
    return int(bool(grown))


if __name__ == "__main__":
    sys.exit(main())
