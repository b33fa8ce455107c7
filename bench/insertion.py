"""
How many loops are noticed that are inserted into runs which had none.

    python bench/insertion.py [--insertions N] [--seed N] [--misses N] [EVENTS...]

Takes the successful runs of the event files (labels beside them as `NAME.labels.jsonl`; without labels every run counts as
successful; without files a small generated corpus) and inserts, at a random place, three laps of 1 to 6 exchanges from the run
itself or another one, so that arguments and results are those of the corpus. Each lap may carry noise: a clock or request ids in
arguments or results, a stray call between laps (one that does not change the world: after a change the count begins anew, and should).
A loop is noticed where the default preset nudges by the end of the third lap. What
comes after cannot change that, so the run is replayed up to there. Runs in which something was decided before the place are not used.

Prints the share noticed with its 95 % interval (Wilson), by period, noise and source, the share of untouched runs in which nothing is
decided, and with `--misses` examples of what was missed. Exit status 1 where the share is under 0.95.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

from corpora import Exchange, Run, exchanges_of, generated, labelled, told
from laps import LAPS, NOISES, PERIODS, Insertion, lap_of, laps_of
from proportions import Share
from unstuck.events import Call, Event, Message, Result, RunEnd
from unstuck.findings import Level
from unstuck.kinds import Kinds
from unstuck.monitor import Monitor

TARGET = 0.95
CHANGES = frozenset(("write", "delegate", "step"))
"""Kinds of calls after which looking again is no repetition: no strays."""


class Outcome(NamedTuple):
    """An insertion and the lap in which something was decided about it, `None` where nothing was."""

    insertion: Insertion
    lap: int | None
    pattern: str | None = None


def places(events: list[Event]) -> list[int]:
    """Where a response may be inserted: no call is open, the run is not over."""
    waiting: set[str] = set()
    announced, found = 0, []
    for index, event in enumerate(events):
        if isinstance(event, Message):
            announced = event.calls or 0
        elif isinstance(event, Call):
            waiting.add(event.id)
            announced -= 1
        elif isinstance(event, Result):
            waiting.discard(event.id)
        elif isinstance(event, RunEnd):
            break
        if not waiting and announced <= 0:
            found.append(index + 1)
    return found


def first_decision(monitor: Monitor, events: Iterable[Event]) -> str | None:
    """The pattern of the first decision to do something, `None` where there is none."""
    for event in events:
        decision = monitor.observe(event)
        if decision.level >= Level.NUDGE:
            return decision.finding.pattern if decision.finding else "?"
    return None


def noticed(insertion: Insertion) -> Outcome | None:
    """Replay the run with its loop; `None` where something was decided before the loop began."""
    run, monitor = insertion.run, Monitor()
    before = run.events[: insertion.place]
    if first_decision(monitor, before):
        return None
    last = next((event for event in reversed(before) if isinstance(event, Message)), None)
    number, agent = (last.message, last.agent) if last else (0, "main")
    for lap, exchanges in enumerate(insertion.laps, 1):
        pattern = first_decision(monitor, told(run.name, list(exchanges), number, agent))
        number += len(exchanges)
        if pattern:
            return Outcome(insertion, lap, pattern)
    return Outcome(insertion, None)


def insertions(runs: list[Run], count: int, seed: int) -> Iterable[Outcome]:
    """*count* outcomes; periods and kinds of noise come up equally often, sources as often as they have runs."""
    choose = random.Random(seed)
    peers: dict[str, list[Run]] = defaultdict(list)
    others: dict[str, list[Exchange]] = defaultdict(list)
    for run in runs:
        peers[run.source].append(run)
        others[run.source] += exchanges_of(run.events)
    strays = {
        source: [one for one in found if Kinds().of(one.tool, one.args) not in CHANGES] for source, found in others.items()
    }
    runs = [run for run in runs if len({exchange.key for exchange in others[run.source]}) >= max(PERIODS)]
    kinds = [(period, noise) for period in PERIODS for noise in NOISES]
    made = 0
    while made < count:
        period, noise = kinds[made % len(kinds)]
        run = choose.choice(runs)
        own = choose.random() < 0.5
        lap = lap_of(choose, run if own else choose.choice(peers[run.source]), others[run.source], period)
        laps = laps_of(choose, lap, noise, strays[run.source])
        place = choose.choice(places(run.events))
        outcome = noticed(Insertion(run, place, period, noise, own, lap, tuple(laps)))
        if outcome is not None:
            made += 1
            yield outcome


def share(outcomes: Iterable[Outcome]) -> Share:
    """How many were noticed."""
    found = [outcome.lap is not None for outcome in outcomes]
    return Share(sum(found), len(found))


def table(outcomes: list[Outcome]) -> None:
    """Print the shares by period and noise."""
    print(f"{'noise':20}" + "".join(f"{f'period {period}':>12}" for period in PERIODS) + "   all periods")
    for noise in NOISES:
        mine = [outcome for outcome in outcomes if outcome.insertion.noise is noise]
        cells = (share(outcome for outcome in mine if outcome.insertion.period == period).value for period in PERIODS)
        print(f"{noise.name:20}" + "".join(f"{cell:12.3f}" for cell in cells) + f"   {share(mine)}")
    cells = (share(outcome for outcome in outcomes if outcome.insertion.period == period).value for period in PERIODS)
    print(f"{'all kinds':20}" + "".join(f"{cell:12.3f}" for cell in cells) + f"   {share(outcomes)}")


def breakdown(outcomes: list[Outcome]) -> None:
    """Print the shares by source and origin of the exchanges, the laps and the patterns."""
    for source in dict.fromkeys(outcome.insertion.run.source for outcome in outcomes):
        print(f"{source:32}{share(outcome for outcome in outcomes if outcome.insertion.run.source == source)}")
    for own, name in ((True, "exchanges of the run itself"), (False, "exchanges of another run")):
        print(f"{name:32}{share(outcome for outcome in outcomes if outcome.insertion.own is own)}")
    laps = Counter(outcome.lap for outcome in outcomes)
    print("noticed in lap", ", ".join(f"{lap}: {laps[lap]}" for lap in range(1, LAPS + 1)), f"| missed: {laps[None]}")
    patterns = Counter(outcome.pattern for outcome in outcomes if outcome.pattern)
    print("as", ", ".join(f"{pattern} {number}" for pattern, number in patterns.most_common()))


def examples(missed: list[Outcome], most: int) -> None:
    """Print what was missed, the first characters of each exchange."""
    for outcome in missed[:most]:
        found = outcome.insertion
        origin = "own" if found.own else "another run's"
        print(
            f"\nmissed: {found.run.name}, after event {found.place}, period {found.period}, {found.noise.name}, {origin} exchanges"
        )
        for number, lap in enumerate(found.laps, 1):
            for exchange in lap:
                content = " ".join(str(exchange.content).split())
                print(f"  lap {number}  {exchange.key[:110]}\n         {exchange.outcome}: {content[:110]}")


def main() -> int:
    """Print the tables; return 1 where too many loops were missed."""
    parser = argparse.ArgumentParser(description="Insert loops into good runs and see whether they are noticed.")
    parser.add_argument("events", nargs="*", type=Path)
    parser.add_argument("--insertions", type=int, default=2_100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--misses", type=int, default=0)
    options = parser.parse_args()
    runs = [run for path in options.events for run in labelled(path)] if options.events else generated()
    runs = [run for run in runs if run.good]
    clean = [run for run in runs if not first_decision(Monitor(), run.events)]
    outcomes = list(insertions(runs, options.insertions, options.seed))
    print(
        f"unstuck {version('unstuck')}, preset default, seed {options.seed}: {len(outcomes)} loops in {len(runs)} successful runs\n"
    )
    table(outcomes)
    print()
    breakdown(outcomes)
    print(f"untouched runs that stay clean  {Share(len(clean), len(runs))}")
    examples([outcome for outcome in outcomes if outcome.lap is None], options.misses)
    found = share(outcomes).value
    print(f"\nnoticed by the end of the third lap: {found:.3f}, target {TARGET}")
    return int(found < TARGET)


if __name__ == "__main__":
    sys.exit(main())
