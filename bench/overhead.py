"""
What one exchange (a call and its outcome) costs each preset, beside two published detectors in the same process.

    python bench/overhead.py [ROUNDS]

Prints microseconds of CPU time per exchange, the median of ROUNDS (default 7), and each as a ratio to pydantic-deep's. Arguments and result
have the size of the column each: one long text, or nested rows. `fresh`: no call and no result comes twice. `loop`: one call with
one result, eight times, then a new run. The detectors take turns, so that a busy moment hits all alike. What the agent framework
creates anyway (its call object, the validated arguments) is made beforehand, and so are our events; what making these costs an
adapter stands in a row of its own. The others look at calls and results only; what it costs a preset to take up the response that
holds the call as well, for loops of text and for calls side by side, stands in the rows `with responses`.

The others, where they are installed (`pip install pydantic-deep praisonaiagents`), are called as their hosts call them:
`after_tool_execute` of `StuckLoopDetection`, driven to its end without an event loop; `record_tool_call`, `detect_tool_loop` and
`record_tool_outcome` of PraisonAI. Exit status 1 where a preset is over its bound.
"""

from __future__ import annotations

import contextlib
import gc
import platform
import random
import sys
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.metadata import version
from itertools import count
from statistics import median
from typing import Any, NamedTuple, TypeAlias

from unstuck.events import Call, Message, Result
from unstuck.monitor import Monitor
from unstuck.presets import PRESETS, preset

Exchange: TypeAlias = tuple[dict[str, Any], Any, Message, Call, Call, Result]
Observer: TypeAlias = Callable[[Exchange], None]

PEER = "pydantic-deep 0"
"""What all are compared with: the name begins with the package and its version."""
LOOP = 8
"""Exchanges of a looping run: where the default preset stops it."""
WORDS = "find the file that holds each of these rows and read what it says about them before any line is changed again".split()
NUMBERS = count()


class Load(NamedTuple):
    """What is exchanged: *name* of the column, the *make*r of one value from a number, exchanges a round."""

    name: str
    make: Callable[[int], Any]
    exchanges: int


def text(size: int) -> Callable[[int], str]:
    """Makers of different texts of about *size* characters."""

    def make(seed: int) -> str:
        choose = random.Random(seed)
        line = " ".join(choose.choices(WORDS, k=min(size // 5, 400))) + f" {seed}\n"
        return (line * (size // len(line) + 1))[:size]

    return make


def rows(size: int) -> Callable[[int], list[Any]]:
    """Makers of different nested values of about *size* characters of JSON."""

    def make(seed: int) -> list[Any]:
        row = {"id": seed, "name": f"item {seed}", "tags": ["a", "b"], "at": {"line": seed, "ok": True, "part": 0.5}}
        return [{**row, "row": index} for index in range(max(1, size // 105))]

    return make


LOADS = (
    Load("text 100 B", text(100), 400),
    Load("text 2 KB", text(2_000), 400),
    Load("text 200 KB", text(200_000), 16),
    Load("nested 200 KB", rows(200_000), 8),
)

BOUNDS = {
    ("pydantic-ai-harness", "text 100 B"): 0.5,
    ("pydantic-ai-harness", "text 2 KB"): 0.5,
    ("pydantic-ai-harness", "nested 200 KB"): 0.2,
    ("default", "text 100 B"): 1.0,
    ("default", "text 2 KB"): 1.0,
    ("default", "text 200 KB"): 0.5,
    ("default", "nested 200 KB"): 0.2,
}
"""The most that a preset may cost where nothing repeats, as a ratio to pydantic-deep."""
LOOP_BOUNDS = {("default", "text 100 B"): 3.0, ("default", "text 2 KB"): 3.0}
"""The same where it loops."""


def exchange(number: int, args: dict[str, Any], result: Any) -> Exchange:
    """Exchange *number* of a run: as a host hands it to a hook, and as events; the call without and with its response's number."""
    id = f"c{number}"
    call = Call("run", id, "read_file", args)
    return args, result, Message("run", number, 1), call, call._replace(message=number), Result("run", id, result)


def ours(name: str) -> Observer:
    """One run under the preset called *name*."""
    observe = Monitor(preset(name)).observe

    def take(made: Exchange) -> None:
        _, _, _, call, _, result = made
        observe(call)
        observe(result)

    return take


def with_responses(name: str) -> Observer:
    """One run under the preset called *name*, its responses taken up too."""
    observe = Monitor(preset(name)).observe

    def take(made: Exchange) -> None:
        _, _, message, _, call, result = made
        observe(message)
        observe(call)
        observe(result)

    return take


def making_events() -> Observer:
    """What it costs to make the events."""

    def take(made: Exchange) -> None:
        Call("run", "c1", "read_file", made[0])
        Result("run", "c1", made[1])

    return take


def pydantic_deep() -> Observer:
    """One run of pydantic-deep's capability."""
    from pydantic_ai.exceptions import ModelRetry
    from pydantic_ai.messages import ToolCallPart
    from pydantic_ai.tools import ToolDefinition

    capability: Any = import_module("pydantic_deep.features.stuck_loop").StuckLoopDetection()
    call, tool = ToolCallPart("read_file", {}), ToolDefinition(name="read_file")

    def take(made: Exchange) -> None:
        hook = capability.after_tool_execute(None, call=call, tool_def=tool, args=made[0], result=made[1])
        with contextlib.suppress(StopIteration, ModelRetry):
            hook.send(None)

    return take


def praisonai() -> Observer:
    """One run of PraisonAI's loop detection."""
    loop_detection: Any = import_module("praisonaiagents.agent.loop_detection")

    config = loop_detection.LoopDetectionConfig(enabled=True)
    history: list[Any] = []

    def take(made: Exchange) -> None:
        args, result = made[:2]
        loop_detection.record_tool_call(history, "read_file", args, config)
        loop_detection.detect_tool_loop(history, "read_file", args, config)
        loop_detection.record_tool_outcome(history, "read_file", args, result, config)

    return take


def contenders() -> dict[str, Callable[[], Observer]]:
    """Everything that can be measured here, by name; the peers with their versions."""
    found: dict[str, Callable[[], Observer]] = {name: lambda name=name: ours(name) for name in PRESETS}  # type: ignore[misc]
    found |= {f"{name} with responses": lambda name=name: with_responses(name) for name in PRESETS}  # type: ignore[misc]
    found["making the events"] = making_events
    for package, make in (("pydantic-deep", pydantic_deep), ("praisonaiagents", praisonai)):
        try:
            make()
        except ImportError as error:
            print(f"{package} is left out: {error}")
        else:
            found[f"{package} {version(package)}"] = make
    return found


def exchanges(load: Load, *, loop: bool) -> Iterator[list[Exchange]]:
    """Runs of one round, each a list of exchanges."""
    for _ in range(max(1, load.exchanges // LOOP) if loop else 1):
        seed = next(NUMBERS)
        run = []
        for number in range(1, (LOOP if loop else load.exchanges) + 1):
            seed = seed if loop else next(NUMBERS)
            run.append(exchange(number, {"path": f"src/{seed}.py", "content": load.make(seed)}, load.make(-seed)))
        yield run


def microseconds(make: Callable[[], Observer], runs: list[list[Exchange]]) -> float:
    """The cost of one exchange in *runs*."""
    taken = 0
    gc.collect()
    gc.disable()  # as timeit does: what it finds to do depends on all else that is alive in here
    for run in runs:
        take = make()
        begin = time.process_time_ns()
        for made in run:
            take(made)
        taken += time.process_time_ns() - begin
    gc.enable()
    return taken / 1000 / sum(map(len, runs))


def measure(found: dict[str, Callable[[], Observer]], load: Load, rounds: int, *, loop: bool) -> dict[str, float]:
    """The median cost for each contender."""
    times: dict[str, list[float]] = {name: [] for name in found}
    for number in range(rounds + 1):
        runs = list(exchanges(load, loop=loop))
        turns = list(found.items())
        first = number % len(turns)  # whoever is first finds the exchanges cold
        for name, make in turns[first:] + turns[:first]:
            took = microseconds(make, runs)
            if number:  # the first round warms caches
                times[name].append(took)
    return {name: median(values) for name, values in times.items()}


def main(rounds: int = 7) -> int:
    """Print the tables; return 1 where a bound is broken."""
    print(
        f"Python {platform.python_version()}, unstuck {version('unstuck')}, {rounds} rounds, microseconds of CPU time per exchange"
    )
    found = contenders()
    peer = next((name for name in found if name.startswith(PEER)), None)
    broken = []
    for loop in (False, True):
        print(f"\n{'loop' if loop else 'fresh':36}" + "".join(f"{load.name:>22}" for load in LOADS))
        table = {load.name: measure(found, load, rounds, loop=loop) for load in LOADS}
        for name in found:
            cells = ""
            for load in LOADS:
                took = table[load.name][name]
                ratio = took / table[load.name][peer] if peer else float("nan")
                cells += f"{took:12.1f} {ratio:7.2f} x"
                bound = (LOOP_BOUNDS if loop else BOUNDS).get((name, load.name))
                if bound is not None and ratio > bound:
                    broken.append(f"{name}, {load.name}: {ratio:.2f} x pydantic-deep, bound {bound} x")
            print(f"{name:36}{cells}")
    print("\n" + ("\n".join(broken) if broken else "all bounds hold"))
    return int(bool(broken))


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:2])))
