"""Runs and texts that are made to be expensive: nearly periodic, wide, never finished, full of what masking looks for."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

from unstuck.events import Call, Event, Message, Result

Runs = Callable[[int], Iterator[Event]]
"""Events of about as many exchanges as asked for."""
Texts = Callable[[int], str]
"""A text of about as many characters as asked for."""


def exchange(number: int, tool: str, args: Any, content: Any, outcome: str = "ok") -> Iterator[Event]:
    """A response with one call, and its result."""
    id = f"c{number % 7}"
    yield Message("run", number, 1)
    yield Call("run", id, tool, args, number)
    yield Result("run", id, content, outcome)  # type: ignore[arg-type]


def spelled(word: Iterator[int]) -> Iterator[Event]:
    """A run that calls one tool for each letter of *word*, with the same result for the same letter."""
    for number, letter in enumerate(word, 1):
        yield from exchange(number, "look", {"at": letter}, f"this is what stands at {letter}")


def fibonacci(size: int) -> list[int]:
    """The word 0, 01, 010, 01001, ...: as periodic as a word without a period can be."""
    before, word = [0], [0, 1]
    while len(word) < size:
        before, word = word, word + before
    return word[:size]


def periodic(period: int, *, broken: bool = False) -> Runs:
    """Laps of *period* calls; *broken*: each lap has one call that no other has."""

    def make(size: int) -> Iterator[Event]:
        return spelled(-index if broken and index % period == period - 1 else index % period for index in range(size))

    return make


def growing(size: int) -> Iterator[Event]:
    """Blocks of 1, 2, 3, ... laps: each run of laps ends just when it looks like a loop."""
    letters = (letter for block in count() for _ in range(2) for letter in range(block, 2 * block + 1))
    return spelled(letter for _, letter in zip(range(size), letters, strict=False))


def wide(size: int) -> Iterator[Event]:
    """One response with all the calls, every second one the same."""
    yield Message("run", 1, size)
    for number in range(size):
        yield Call("run", f"c{number}", "look", {"at": number * (number % 2)}, 1)
    for number in range(size):
        yield Result("run", f"c{number}", f"row {number * (number % 2)}")


def unanswered(size: int) -> Iterator[Event]:
    """Calls that never come back."""
    for number in range(size):
        yield Call("run", f"c{number}", "look", {"at": number % 50}, number)


def agents(size: int) -> Iterator[Event]:
    """A new agent for each exchange, all doing the same."""
    for number in range(size):
        agent = f"agent {number}"
        yield Message("run", number, 1, agent)
        yield Call("run", "c", "look", {"at": 1}, number, agent)
        yield Result("run", "c", "the same")


def failures(size: int) -> Iterator[Event]:
    """Another tool each time, failing the same way."""
    for number in range(size):
        yield from exchange(number, f"tool_{number}", {"at": number}, f"Error: gateway 10.0.0.{number % 9} is down", "error")


def alike(size: int) -> Iterator[Event]:
    """One question in ever other words, with one answer."""
    choose = random.Random(0)
    words = "where who when old new large small house street town".split()
    for number in range(size):
        query = " ".join(choose.choices(words, k=12))
        yield from exchange(number, "search", {"query": query}, "nothing was found")


def edits(size: int) -> Iterator[Event]:
    """Edits that take each other back, in ever other files."""
    for number in range(size):
        old, new = ("a", "b") if number % 2 else ("b", "a")
        yield from exchange(number, "edit_file", {"path": f"f{number // 2}", "old": old, "new": new}, "done")


RUNS: dict[str, Runs] = {
    "one call": periodic(1),
    "laps of 7": periodic(7),
    "laps of 499": periodic(499),
    "laps of 7, each broken": periodic(7, broken=True),
    "laps of 64, each broken": periodic(64, broken=True),
    "Fibonacci word": lambda size: spelled(iter(fibonacci(size))),
    "laps that grow": growing,
    "parallel calls in one response": wide,
    "calls without results": unanswered,
    "an agent each": agents,
    "a failing tool each": failures,
    "a query reworded": alike,
    "edits taken back": edits,
}


def repeated(piece: str) -> Texts:
    """*piece* over and over."""
    return lambda size: (piece * (size // len(piece) + 1))[:size]


def almost(unit: int) -> Texts:
    """Laps of *unit* letters, of which every third has one letter changed."""
    block = "".join(random.Random(unit).choices("abcdefghij klmnop", k=unit))

    def make(size: int) -> str:
        return "".join(block if lap % 3 else f"{block[:-1]}{lap % 10}" for lap in range(size // unit + 1))[:size]

    return make


TEXTS: dict[str, Texts] = {
    "digits": repeated("1"),
    "digits apart": repeated("1 "),
    "clocks": repeated("12:31:07 "),
    "half clocks": repeated("12:31:"),
    "half ids": repeated("0f8fad5b-d9cb-469f-"),
    "hex": repeated("0x7f3a"),
    "fields": repeated("id=7 "),
    "fields without values": repeated("id=id="),
    "attempts": repeated("attempt attempt "),
    "open brackets": repeated("["),
    "white space": repeated(" \t"),
    "rules": repeated("-" * 79 + "\n"),
    "one letter": repeated("a"),
    "laps of 24, almost": almost(24),
    "laps of 501": almost(501),
    "laps of 150, almost": almost(150),
}
