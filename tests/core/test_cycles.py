"""Cycles of any period, at a price that does not grow."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from unstuck.cycles import Cycles, Step


def step(symbol: int, number: int) -> Step:
    return Step(symbol, number, number, ((symbol, symbol, "tool"),), False)


def fed(symbols: list[int], window: int = 64) -> Cycles:
    cycles = Cycles(window)
    for number, symbol in enumerate(symbols, 1):
        cycles.add(step(symbol, number))
    return cycles


def laps(cycles: Cycles) -> tuple[int, float]:
    """The period and how many laps of it stand at the end."""
    period, matched = cycles.current()
    return (period, 1 + matched / period) if period else (0, 0)


@pytest.mark.parametrize("period", range(1, 33))
@pytest.mark.parametrize("before", [0, 1, 7, 200])
def test_every_period_up_to_half_the_window_is_found(period: int, before: int):
    """At the end of the second lap there are two, at the end of the third three, whatever came before."""
    lap = list(range(period))
    head = list(range(1_000, 1_000 + before))
    assert laps(fed(head + lap * 2)) == (period, 2)
    assert laps(fed(head + lap * 3)) == (period, 3)
    assert laps(fed(head + lap * 12)) == (period, 12)


@pytest.mark.parametrize("period", [33, 40, 64])
def test_longer_periods_are_not(period: int):
    """Half the window is the bound; a larger window moves it."""
    assert laps(fed(list(range(period)) * 4)) == (0, 0)
    assert laps(fed(list(range(period)) * 4, window=2 * period)) == (period, 4)


@pytest.mark.parametrize(
    "lap",
    [
        [1, 1, 2],
        [1, 2, 1, 3],
        [1, 1, 1, 2],
        [1, 2, 3, 2],
        [1, 2, 2, 1, 3],
        [5, 5, 6, 6],
        [1, 2, 3, 1, 3, 2],
        [1, 1, 1, 2, 2, 2],
    ],
)
def test_a_lap_may_hold_a_symbol_several_times(lap: list[int]):
    """Its own repetitions are not taken for the period."""
    assert laps(fed(lap * 4)) == (len(lap), 4)


def test_a_break_ends_a_cycle_and_the_next_lap_begins_anew():
    """One foreign symbol between two laps: nothing is left of the count."""
    assert fed([1, 2, 3] * 3 + [9]).current() == (0, 0)
    assert laps(fed([1, 2, 3] * 3 + [9, 1, 2, 3])) <= (4, 2)
    assert laps(fed([1, 2, 3] * 3 + [9] + [1, 2, 3] * 2)) == (3, 2)


def test_nothing_repeats_where_nothing_does():
    """All different, or nothing at all."""
    assert fed([]).current() == (0, 0)
    assert fed(list(range(500))).current() == (0, 0)


def naive(symbols: list[int], window: int) -> dict[int, int]:
    """Per period how many symbols at the end equal the one a period before, at most as far as the window goes."""
    seen = symbols[-window:]
    found = {}
    for period in range(1, window // 2 + 1):
        length = 0
        while length + period < len(seen) and seen[-1 - length] == seen[-1 - length - period]:
            length += 1
        if length >= period:
            found[period] = length
    return found


@pytest.mark.parametrize("seed", range(60))
def test_whoever_counts_by_hand_comes_to_the_same(seed: int):
    """On random sequences of a few symbols: what stands there twice is reported with as many laps, to within one."""
    rng = random.Random(seed)
    symbols: list[int] = []
    while len(symbols) < 300:
        lap = [rng.randrange(rng.choice((2, 3, 9))) for _ in range(rng.randrange(1, 9))]
        symbols += lap * rng.choice((1, 1, 2, 3, 5))
    cycles = Cycles(32)
    for number, symbol in enumerate(symbols, 1):
        cycles.add(step(symbol, number))
        expected = naive(symbols[:number], 32)
        period, matched = cycles.current()
        if expected:
            best = max(length / one for one, length in expected.items())
            assert period
            assert matched / period >= int(best) - 1
        if period and matched >= period:
            assert symbols[number - period : number] == symbols[number - 2 * period : number - period]


class Counted(int):
    """A symbol that counts how often it is compared."""

    compared = 0

    def __eq__(self, other: object) -> bool:
        Counted.compared += 1
        return int(self) == other

    __hash__ = int.__hash__


def fibonacci(length: int) -> list[int]:
    """The sequence with the most overlapping repetitions that any has."""
    one, other = [0], [0, 1]
    while len(other) < length:
        one, other = other, other + one
    return other[:length]


ADVERSARIES: dict[str, Any] = {
    "all the same": lambda n: [1] * n,
    "all different": lambda n: list(range(n)),
    "fibonacci": fibonacci,
    "thue-morse": lambda n: [k.bit_count() % 2 for k in range(n)],
    "two at random": lambda n: random.Random(1).choices((0, 1), k=n),
    "nearly periodic": lambda n: [k % 16 if k % 97 else 99 for k in range(n)],
    "runs": lambda n: [1 if k % 33 else 2 for k in range(n)],
    "growing laps": lambda n: [k for size in range(1, n) for k in range(size)][:n],
}


@pytest.mark.parametrize("name", ADVERSARIES)
@pytest.mark.parametrize("window", [64, 1_024])
def test_the_work_per_symbol_is_bounded(name: str, window: int):
    """Comparisons do not grow faster than symbols do, and a window sixteen times as large costs no more of them."""
    symbols = [Counted(symbol) for symbol in ADVERSARIES[name](8_000)]
    Counted.compared = 0
    cycles = fed(symbols, window)
    assert Counted.compared <= 40 * len(symbols)
    assert len(cycles.matched) <= Cycles.MOST_PERIODS
    assert len(cycles.steps) <= window
    assert len(cycles.seen) <= 4 * window


@pytest.mark.parametrize("name", ADVERSARIES)
def test_saving_and_loading_changes_nothing(name: str):
    """At any place, through JSON."""
    symbols = ADVERSARIES[name](400)
    live = saved = Cycles(32)
    saved = Cycles(32)
    for number, symbol in enumerate(symbols, 1):
        live.add(step(symbol, number))
        saved.add(step(symbol, number))
        if number % 7 == 0:
            saved = Cycles.load(json.loads(json.dumps(saved.dump())), 32)
        assert saved.current() == live.current()
        assert saved.matched == live.matched
