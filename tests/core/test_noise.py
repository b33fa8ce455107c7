"""The same runs with clocks, durations and request ids around every result."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

import pytest

from tests.core.honest import HONEST as LOOKS
from tests.core.honest_programs import HONEST as PROGRAMS
from tests.core.looping import LOOPS
from tests.core.patterns import X, found


def tail(content: str, n: int, rng: random.Random) -> str:
    return f"{content}\n[12:{n % 60:02}:{n * 7 % 60:02}] took {n * 7 % 113} ms (request_id={rng.getrandbits(32):08x})"


def head(content: str, n: int, rng: random.Random) -> str:
    return f"2026-01-02T03:{n % 60:02}:{n * 7 % 60:02}Z {content}"


def wrapped(content: str, n: int, rng: random.Random) -> str:
    answer = {"result": content, "elapsed_ms": n * 13 % 997, "trace_id": f"{rng.getrandbits(128):032x}"}
    return json.dumps(answer)


HONEST = {**LOOKS, **PROGRAMS}
NOISES: list[Callable[[str, int, random.Random], str]] = [tail, head, wrapped]
WHOLE_ANSWERS = {
    "a bare number that rises by itself",
    "sleep and print",
    "nothing found, whatever is asked",
    "one question in other words, never answered",
    "one question in patterns, never answered",
    "several lists in turn with new filters, all of them empty",
    "guesses at one name",
    "guesses at one file",
    "pages after the last",
    "a file read on beyond its end",
    "ever new names, none of them there",
    "a failure that comes back as a success",
    "a failure that is reported in an answer",
}
"""Loops that show in what a whole answer is: with something beside it, it is another answer."""

RECEIPTS = {
    "a page after another, and back",
    "keys pressed, one after another",
    "names out of a list, as patterns of whole words",
    "searches that find nothing, by their exit status",
    "conditions that do not hold",
    "one short word about each of many repositories",
    "one short word about each of many hosts",
    "one short word about each of many addresses",
}
"""Honest work that is told by how short its answers are."""


def noisy(rounds: list[Any], noise: Callable[[str, int, random.Random], str]) -> list[Any]:
    """*rounds* with *noise* in each result that is a text."""
    rng, count = random.Random(3), iter(range(10_000))

    def one(step: X) -> X:
        return step._replace(content=noise(step.content, next(count), rng)) if isinstance(step.content, str) else step

    return [[one(x) for x in step] if isinstance(step, list) else one(step) if isinstance(step, X) else step for step in rounds]


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("name", [name for name in LOOPS if name not in WHOLE_ANSWERS])
def test_noise_hides_no_loop(name: str, noise: Callable[[str, int, random.Random], str]):
    """It is found by the same pattern at the same place."""
    rounds, expected = LOOPS[name]
    findings = found(noisy(rounds, noise))
    assert expected in (findings if expected.at >= 0 else [one._replace(at=-1) for one in findings])


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("name", [name for name in HONEST if name not in RECEIPTS])
def test_noise_makes_no_loop_of_honest_work(name: str, noise: Callable[[str, int, random.Random], str]):
    """What was left alone without it is left alone with it."""
    assert found(noisy(HONEST[name], noise)) == []


@pytest.mark.parametrize("name", LOOPS)
def test_with_the_person_speaking_each_round_there_is_no_loop_of_calls(name: str):
    """A person who asks anew after each response wants it; only what goes round inside one response is left."""
    from unstuck.events import User

    rounds, _ = LOOPS[name]
    spoken = [part for step in rounds for part in (step, User("r", "Again, please."))]
    assert {one.pattern for one in found(spoken)} <= {"degenerate_text"}
