"""Loops to insert into runs: laps of exchanges, with noise that does not make them new."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any, NamedTuple
from uuid import UUID

from corpora import Exchange, Run, exchanges_of

LAPS = 3
PERIODS = (1, 2, 3, 4, 5, 6)


class Ticks:
    """A clock and ids for one insertion; each exchange takes a few seconds."""

    def __init__(self, choose: random.Random) -> None:
        self._choose = choose
        self._now = choose.randrange(1_700_000_000, 1_790_000_000)

    def time(self) -> str:
        """The time now, a little later at each asking."""
        self._now += self._choose.randrange(1, 30)
        day, second = divmod(self._now, 86_400)
        return f"2026-{day % 12 + 1:02}-{day % 28 + 1:02}T{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}Z"

    def id(self) -> str:
        """A request id."""
        return str(UUID(int=self._choose.getrandbits(128), version=4))


Change = Callable[[Exchange, Ticks], Exchange]


def _with_field(value: Any, name: str, text: str) -> Any:
    """*value* with one more field: a key of an object (as JSON text too), a last line of other text."""
    if isinstance(value, dict):
        return {**value, name: text}
    if isinstance(value, str) and value.lstrip().startswith("{"):
        try:
            parsed = json.loads(value)
        except ValueError:
            parsed = None
        if isinstance(parsed, dict):
            return json.dumps({**parsed, name: text})
    return f"{value}\n{name}: {text}"


def _stamped(value: Any, text: str) -> Any:
    """*value* with a time, as logs have it: in front of a text, as a field of an object."""
    return (
        f"[{text}] {value}"
        if isinstance(value, str) and not value.lstrip().startswith("{")
        else _with_field(value, "time", text)
    )


def _args_time(exchange: Exchange, ticks: Ticks) -> Exchange:
    return exchange._replace(args=_with_field(exchange.args, "timestamp", ticks.time()))


def _args_id(exchange: Exchange, ticks: Ticks) -> Exchange:
    return exchange._replace(args=_with_field(exchange.args, "request_id", ticks.id()))


def _result_time(exchange: Exchange, ticks: Ticks) -> Exchange:
    return exchange._replace(content=_stamped(exchange.content, ticks.time()))


def _result_id(exchange: Exchange, ticks: Ticks) -> Exchange:
    return exchange._replace(content=_with_field(exchange.content, "request_id", ticks.id()))


class Noise(NamedTuple):
    """What differs from lap to lap: *changes* of each exchange, a *stray* call between laps."""

    name: str
    changes: tuple[Change, ...] = ()
    stray: bool = False


NOISES = (
    Noise("none"),
    Noise("time in arguments", (_args_time,)),
    Noise("id in arguments", (_args_id,)),
    Noise("time in results", (_result_time,)),
    Noise("id in results", (_result_id,)),
    Noise("stray call", (), stray=True),
    Noise("all of these", (_args_time, _args_id, _result_time, _result_id), stray=True),
)


class Insertion(NamedTuple):
    """A loop that is inserted after the first *place* events of *run*; *laps* holds the exchanges of each, strays apart."""

    run: Run
    place: int
    period: int
    noise: Noise
    own: bool
    lap: tuple[Exchange, ...]
    laps: tuple[tuple[Exchange, ...], ...]


def lap_of(choose: random.Random, donor: Run, others: list[Exchange], period: int) -> tuple[Exchange, ...]:
    """*period* different exchanges that follow each other in *donor*, filled up with *others* where it has too few."""
    found = exchanges_of(donor.events)
    begin = choose.randrange(len(found)) if found else 0
    picked: dict[str, Exchange] = {}
    for exchange in found[begin:] + found[:begin]:
        if len(picked) < period:
            picked.setdefault(exchange.key, exchange)
    while len(picked) < period:
        exchange = choose.choice(others)
        picked.setdefault(exchange.key, exchange)
    return tuple(picked.values())


def laps_of(
    choose: random.Random, lap: tuple[Exchange, ...], noise: Noise, others: list[Exchange]
) -> list[tuple[Exchange, ...]]:
    """The laps with their noise; a stray call stands in front of the second and of each later lap."""
    ticks, seen, made = Ticks(choose), {exchange.key for exchange in lap}, []
    for number in range(LAPS):
        exchanges: list[Exchange] = []
        if noise.stray and number:
            stray = next((one for one in choose.sample(others, min(len(others), 50)) if one.key not in seen), None)
            if stray is not None:
                seen.add(stray.key)
                exchanges.append(stray)
        for exchange in lap:
            for change in noise.changes:
                exchange = change(exchange, ticks)  # noqa: PLW2901 - each noise adds to the one before
            exchanges.append(exchange)
        made.append(tuple(exchanges))
    return made
