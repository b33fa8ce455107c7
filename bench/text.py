"""
Repetition inside one response, and from one response to the next: what is found, what should not be, and what looking costs.

    python bench/text.py [--seed N] [--misses N] [EVENTS...]

Prints four tables. Honest text: for each of six scripts and ten kinds (prose, code, tables, lists, poems, logs, ...) the texts of 200 to
8,000 characters in which something was found, streamed and in runs of such responses. Real messages: 300 responses and the runs that they are
from, out of the event files given. Degenerate text: blocks of 1 to 400 characters over and over, exact and (from 24 characters on) slightly
varied, after some honest prose: how many streams are cut before 2,048 characters too many, and how many characters that takes. Cost: nanoseconds for each streamed
character, in pieces of 4 and of 400 characters, for texts of 10,000, 100,000 and 1,000,000. Exit status 1 for a false finding, or where
something degenerate was found too late.
"""

from __future__ import annotations

import argparse
import platform
import random
import sys
import time
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

from corpora import Run, labelled
from proportions import Share
from texts import CHANGES, HONEST, SCRIPTS, SLIGHT, Script, degenerate_text, prose, topic
from unstuck.degenerate import TextWatch
from unstuck.events import Event, Message
from unstuck.findings import Level
from unstuck.monitor import Monitor

TEXTS = 12
"""Honest texts of each kind in each script."""
UNITS = (*range(1, 33), *range(40, 401, 24))
MOST = 2_048
"""Characters of repetition after which it should have been found."""
MESSAGES = 300
EVEN = {"exact", "case and white space"}
"""Changes that leave no trace."""
PATTERNS = {"degenerate_text", "monologue", "repeated_text"}


class Miss(NamedTuple):
    """Something that went wrong, with the beginning of the text."""

    what: str
    text: str


def found_at(text: str, piece: int = 20) -> int | None:
    """After how many characters a stream is cut; its length where the complete response is what shows it."""
    monitor = Monitor()
    for begin in range(0, len(text), piece):
        if monitor.stream(text[begin : begin + piece]).level >= Level.BLOCK:
            return min(begin + piece, len(text))
    return len(text) if monitor.observe(Message("r", 1, 0, text=text)).findings else None


def findings(events: list[Event]) -> set[str]:
    """The patterns of text that are found in a run."""
    monitor = Monitor()
    return {finding.pattern for event in events for finding in monitor.observe(event).findings} & PATTERNS


def honest(seed: int) -> list[Miss]:
    """Print the first table; return what was found there."""
    misses: list[Miss] = []
    print(f"{'honest text: found':22}" + "".join(f"{script.name:>12}" for script in SCRIPTS))
    for kind, make in HONEST.items():
        cells = ""
        for script in SCRIPTS:
            choose = random.Random(f"{seed} {kind} {script.name}")
            texts = [make(choose, topic(choose, script), choose.choice((200, 1_000, 3_000, 8_000))) for _ in range(TEXTS)]
            wrong = [text for text in texts if found_at(text)]
            events: list[Event] = [Message("r", number, 0, text=text) for number, text in enumerate(texts, 1)]
            patterns = findings(events)
            cells += f"{len(wrong):5}/{len(texts)}{'+' + ','.join(sorted(patterns)) if patterns else '':>4}"
            misses += [Miss(f"{kind} in {script.name}, streamed", text) for text in wrong]
            misses += [Miss(f"{kind} in {script.name}, as responses: {pattern}", texts[0]) for pattern in sorted(patterns)]
        print(f"{kind:22}{cells}")
    return misses


def real(paths: list[Path], seed: int) -> list[Miss]:
    """Print the second table; return what was found in real messages of successful runs."""
    runs = [run for path in paths for run in labelled(path) if run.good]
    told = [(run, event.text) for run in runs for event in run.events if isinstance(event, Message) and event.text]
    told = [(run, text) for run, text in told if len(text) >= 100]
    picked = random.Random(seed).sample(told, min(MESSAGES, len(told)))
    wrong = [text for _, text in picked if found_at(text)]
    among: dict[str, Run] = {run.name: run for run, _ in picked}
    looped = {name: patterns for name, run in among.items() if (patterns := findings(run.events))}
    sizes = sorted(len(text) for _, text in picked)
    print(f"\nreal messages of 100 characters and more: {Share(len(wrong), len(picked))} found degenerate", end="")
    print(f" (median {sizes[len(sizes) // 2]}, longest {sizes[-1]} characters)" if sizes else "")
    print(f"the successful runs that they are from: {Share(len(looped), len(among))} with a finding of text")
    found = [Miss(f"{name}: {', '.join(sorted(patterns))}", "") for name, patterns in looped.items()]
    return [Miss("a real message", text) for text in wrong] + found


def degeneration(seed: int) -> list[Miss]:
    """Print the third table; return what was missed or found late."""
    misses: list[Miss] = []
    print(f"\n{'degenerate text':22}{'in time':>38}{'characters too many: median':>32}{'90 %':>7}{'most':>7}")
    for name, change in CHANGES.items():
        taken: list[int] = []
        for script in SCRIPTS:
            for unit in UNITS if name in EVEN else (unit for unit in UNITS if unit >= SLIGHT):
                choose = random.Random(f"{seed} {name} {script.name} {unit}")
                before = prose(choose, script, choose.randrange(0, 3_000))
                text = before + degenerate_text(choose, script, unit, change, 8_000)
                at = found_at(text, choose.randrange(1, 40))
                taken.append(10**6 if at is None else max(0, at - len(before) - unit))
                if at is not None and at <= len(before):
                    misses.append(Miss(f"prose in {script.name}, before anything repeats", before))
                elif taken[-1] > MOST:
                    what = f"{name}, {unit} characters in {script.name}: {'never found' if at is None else f'{taken[-1]} too many'}"
                    misses.append(Miss(what, text[len(before) :]))
        ordered = sorted(taken)
        share = Share(sum(number <= MOST for number in taken), len(taken))
        print(
            f"{name:22}{share!s:>38}{ordered[len(taken) // 2]:32}{ordered[len(taken) * 9 // 10]:7}{ordered[-1]:>7}".replace(
                "1000000", "  never"
            )
        )
    return misses


def cost(seed: int) -> None:
    """Print the fourth table."""
    sizes = (10_000, 100_000, 1_000_000)
    print(f"\n{'ns per streamed character':34}" + "".join(f"{size:12,}" for size in sizes) + f"{'ratio':>8}")
    for script in (SCRIPTS[0], SCRIPTS[4]):
        text = _unbroken(script, sizes[-1], seed)
        for piece in (4, 400):
            costs = [_nanoseconds(text[:size], piece) / size for size in sizes]
            cells = "".join(f"{one:12.1f}" for one in costs)
            print(f"{f'{script.name}, pieces of {piece}':34}{cells}{costs[-1] / costs[0]:8.2f}")


def _unbroken(script: Script, size: int, seed: int) -> str:
    return prose(random.Random(seed), script, size).replace("\n", "")[:size]


def _nanoseconds(text: str, piece: int) -> int:
    best = sys.maxsize
    for _ in range(3):
        watch = TextWatch()
        start = time.process_time_ns()
        for begin in range(0, len(text), piece):
            watch.feed(text[begin : begin + piece])
        watch.end()
        best = min(best, time.process_time_ns() - start)
    return best


def main() -> int:
    """Print the tables; return 1 where text was taken for what it is not."""
    parser = argparse.ArgumentParser(description="What is found in text, and what looking costs.")
    parser.add_argument("events", nargs="*", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--misses", type=int, default=5)
    options = parser.parse_args()
    print(f"Python {platform.python_version()}, unstuck {version('unstuck')}, seed {options.seed}\n")
    misses = honest(options.seed)
    misses += real(options.events, options.seed) if options.events else []
    misses += degeneration(options.seed)
    cost(options.seed)
    for miss in misses[: options.misses]:
        print(f"\n{miss.what}\n  {miss.text[-400:]!r}")
    print(f"\n{len(misses)} texts were taken for what they are not" if misses else "\neverything was taken for what it is")
    return int(bool(misses))


if __name__ == "__main__":
    sys.exit(main())
