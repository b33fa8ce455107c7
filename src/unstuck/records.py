"""
The records that a ledger is made of: calls, tools, rounds, what an outcome or a call's arguments said.

All of them bounded, all of them JSON: `row()` and `from_row()` are each other's inverse. Texts stand here only until their digest
is needed and are never saved: `row()` takes the digest first. Fields start out as class attributes, so that making a record, which
happens on every call of an agent, sets only what is not zero.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, ClassVar, Self

from unstuck import words
from unstuck.cycles import Step
from unstuck.events import Call
from unstuck.fingerprint import text_digest, text_of
from unstuck.kinds import target_digest
from unstuck.signs import CHAIN, ECHO, FAILED, MISTAKE
from unstuck.sketch import Sketch, likeness, sketch, words_of
from unstuck.swings import Told, state_of
from unstuck.volatile import mask, numbers, surely_differ, template

ALIKE = 0.7
"""The share of words from which on two calls are spellings of one."""
_FIRST_WORDS = re.compile(r"[^\W_]+(?![^\W_]*$)")
_SIMPLE = frozenset((str, int))
_SCALAR = frozenset((int, float, bool, type(None)))
HEAVY = 8_192
"""Characters of arguments beyond which only their digests are kept."""
LONG = 512
"""Characters from which on it pays to look for a difference before masking."""
MOST_KNOWN = 192
"""Words that are remembered of the differing answers to one call."""
_64_BITS = 0xFFFFFFFFFFFFFFFF


class Row:
    """A record with a saved form: the values of `FIELDS`, of which `PARTS` are records themselves, `MANY` several, `SETS` sets."""

    FIELDS: ClassVar[tuple[str, ...]] = ()
    PARTS: ClassVar[Mapping[str, type[Row]]] = {}
    MANY: ClassVar[Mapping[str, type[Row]]] = {}
    SETS: ClassVar[frozenset[str]] = frozenset()

    def settle(self) -> None:
        """Take the digests that were put off."""

    def row(self) -> list[Any]:
        """The saved form."""
        return _row_of(type(self), self)

    @classmethod
    def from_row(cls, row: list[Any]) -> Self:
        """The record that *row* was saved from; raises `ValueError` where it has another number of fields."""
        made = cls.__new__(cls)
        for name, value in zip(cls.FIELDS, row, strict=True):
            part = cls.PARTS.get(name)
            if part is not None and value is not None:
                value = part.from_row(value)
            if name in cls.MANY:
                value = tuple(cls.MANY[name].from_row(item) for item in value)
            setattr(made, name, frozenset(value) if name in cls.SETS and value is not None else value)
        return made


def _row_of(kind: type[Row], record: Row) -> list[Any]:
    record.settle()
    saved = []
    for name in kind.FIELDS:
        value = getattr(record, name)
        part = kind.PARTS.get(name)
        if part is not None and value is not None:
            value = _row_of(part, value)
        if name in kind.MANY:
            value = [_row_of(kind.MANY[name], item) for item in value]
        saved.append(sorted(value) if isinstance(value, (set, frozenset)) else value)
    return saved


class Sameness(Row):
    """The latest outcome of something, and whether the next one says anything else."""

    FIELDS: ClassVar[tuple[str, ...]] = ("raw", "masked", "receipt")
    raw = 0
    masked: int | None = None
    receipt = False
    text: str | None = None

    def settle(self) -> None:
        """Mask the outcome now."""
        if self.masked is None:
            self.masked = self._digest(self.text or "")

    def _digest(self, text: str) -> int:
        masked = mask(text)
        return text_digest(template(masked) if self.receipt else masked)

    def again(self, raw: int, text: str) -> bool:
        """Whether an outcome says the same; of a receipt (`agent-3 started`) the numbers are no news. Keeps the newer one."""
        if raw == self.raw:
            return True
        if not self.receipt and self.text is not None and len(text) > LONG and surely_differ(self.text, text):
            self.raw, self.text, self.masked = raw, text, None
            return False
        Sameness.settle(self)
        masked = self._digest(text)
        if masked == self.masked:
            return True
        self.raw, self.text, self.masked = raw, text, masked
        return False


class Said(Row):
    """The words of a call's arguments: all of them, and those that choose what it does."""

    FIELDS: ClassVar[tuple[str, ...]] = ("chosen", "everything")
    SETS = frozenset(FIELDS)
    value: Any = None
    chosen: Sketch | None = None
    everything: Sketch | None = None

    def settle(self) -> None:
        """Take the sketches now."""
        if self.chosen is None:
            self.chosen = sketch(words_of(choosing_text(self.value)))
            self.everything = sketch(words_of(text_of(self.value)))

    def saved(self) -> list[Any]:
        """The saved form of the words alone."""
        return _row_of(Said, self)

    def is_like(self, other: Said, share: float) -> bool:
        """Whether two calls have so large a *share* of their choosing words in common."""
        self.settle()
        other.settle()
        return likeness(self.chosen or frozenset(), other.chosen or frozenset()) >= share

    def may_hold(self, text: str) -> bool:
        """Whether the first words of *text* may be among the words: a cheap test that only ever errs by saying yes."""
        value = self.value
        if type(value) is dict:
            texts = [item if type(item) is str else str(item) for item in value.values() if type(item) in _SIMPLE]
            if len(texts) < len(value):
                return True
            held = " ".join(texts).lower()
        elif type(value) is str:
            held = value.lower()
        else:
            return True
        return all(word in held for word in _FIRST_WORDS.findall(text[:80].lower())[:4])


def choosing_text(args: Any) -> str:
    """The values of *args* without remarks, limits and throwaway names, which do not choose what a call does."""
    if not isinstance(args, dict):
        return text_of(args)
    return " ".join(text_of(value) for name, value in args.items() if not _stands_beside(name))


def _stands_beside(name: Any) -> bool:
    return type(name) is str and name.lower() in _NOT_CHOOSING


_NOT_CHOOSING = words.REMARK_FIELDS | words.LIMIT_FIELDS | words.THROWAWAY_FIELDS


class Pending(Said):
    """A call whose result is not there yet."""

    FIELDS: ClassVar[tuple[str, ...]] = (
        *Said.FIELDS,
        *(
            "agent",
            "apart",
            "approved",
            "call",
            "depth",
            "exempt",
            "ignored",
            "is_shell",
            "key",
            "kind",
            "message",
            "target",
            "time",
        ),
        *("told", "tool"),
    )
    ignored = exempt = is_shell = apart = False
    target: int | None = None
    told: Told | None = None

    def __init__(self, event: Call, call: int, message: int, key: int, kind: str, args: Any) -> None:
        self.call, self.message, self.key, self.kind, self.value = call, message, key, kind, args
        self.agent, self.tool, self.time, self.approved, self.depth = (
            event.agent,
            event.tool,
            event.time,
            event.approved,
            event.depth,
        )
        if kind == "write":
            self.told = state_of(event.tool, args)
        if _is_heavy(args):
            self.settle()
            self.value = None

    @property
    def said(self) -> Said:
        """The words of its arguments."""
        return self

    def aims_at(self) -> int:
        """The digest of the target that its arguments name, 0 where they name none."""
        if self.target is None:
            self.target = target_digest(self.value)
        return self.target

    def settle(self) -> None:
        """Take every digest now."""
        super().settle()
        self.aims_at()


def _is_heavy(args: Any) -> bool:
    """Whether *args* hold more than should be kept until the next call of the tool."""
    if type(args) is not dict:
        return type(args) is not str or len(args) > HEAVY if args is not None else False
    for item in args.values():
        if type(item) is str:
            if len(item) > HEAVY:
                return True
        elif type(item) not in _SCALAR and _weighs_much(item):
            return True
    return False


def _weighs_much(value: Any) -> bool:
    weight, pending = 0, [value]
    while pending and weight <= HEAVY:
        item = pending.pop()
        kind = type(item)
        if kind is str:
            weight += len(item)
        elif kind is dict or kind is list or kind is tuple:
            weight += 8 * len(item) + 8
            pending.extend(item.values() if kind is dict else item)
        elif kind not in _SCALAR:
            return True  # an object of the host's, which may change
    return weight > HEAVY


def answer_words(masked: str) -> Sketch:
    """The words of a masked answer, without its numbers."""
    return sketch(words_of(template(masked)), 32)


class CallState(Sameness):
    """One distinct call (tool and arguments) and how it has gone since the world last changed."""

    FIELDS: ClassVar[tuple[str, ...]] = (
        *Sameness.FIELDS,
        "asked",  # times it was asked for again after a block
        "compaction",
        "differing",  # answers in a row that differed and said nothing new
        "epoch",
        "first",
        "fresh_read",  # the epoch in which one re-read after a compaction was granted
        "key",
        "kind",
        "known",  # digests of the words its differing answers have held
        "last",
        "last_message",
        "lift",  # repeats that a person's approval still allows
        "numbers",
        "round",
        "runs",  # per number in the answer: how often in a row it rose (or, negative, fell)
        "same",  # times in a row it came to this outcome
        "slow",  # looks that came a minute and more after the one before
        "time",
        "tool",
        "varied",  # the call after which its answers began to differ and say nothing new
    )
    SETS = frozenset(("known",))
    last = last_message = asked = lift = slow = differing = round = varied = 0
    same = 1
    fresh_read = -1
    numbers: tuple[float, ...] = ()
    runs: tuple[int, ...] = ()
    known: Sketch = frozenset()
    time: float | None = None

    def __init__(self, key: int, tool: str, kind: str, first: int, epoch: int, compaction: int) -> None:
        self.key, self.tool, self.kind, self.first, self.epoch, self.compaction = key, tool, kind, first, epoch, compaction

    def settle(self) -> None:
        """Mask the outcome and note its words now."""
        super().settle()
        if not self.known and self.text is not None:
            self.note(mask(self.text))

    def note(self, masked: str) -> bool:
        """Take up an answer's words and numbers; return whether a number has been rising or falling for two answers."""
        if len(self.known) < MOST_KNOWN:
            self.known = self.known | answer_words(masked)
        found = numbers(masked)
        runs = []
        for index, number in enumerate(found):
            old = self.numbers[index] if index < len(self.numbers) else number
            run = self.runs[index] if index < len(self.runs) else 0
            runs.append(max(run, 0) + 1 if number > old else min(run, 0) - 1 if number < old else 0)
        self.numbers, self.runs = found, tuple(runs)
        return any(abs(run) >= 2 for run in runs)

    @property
    def symbol(self) -> int:
        """The call together with what it came to."""
        return self.key ^ (self.raw * 31 & _64_BITS)


class ToolState(Sameness):
    """One tool, whatever its arguments: outcomes that repeat, failures, echoes."""

    FIELDS: ClassVar[tuple[str, ...]] = (
        *Sameness.FIELDS,
        "args",
        "chain",  # rounds in a row with one outcome, the calls alike but not equal
        "chain_asked",
        "chain_first",
        "chain_keys",
        "chain_round",
        "echo",  # rounds in a row whose result only repeats what the arguments say
        "echo_first",
        "echo_round",
        "epoch",
        "failed",  # failures of one class in a row
        "failed_before",
        "failed_classes",
        "ok_round",
        "failed_asked",
        "failed_epoch",
        "failed_first",
        "failed_round",
        "failure",
        "failure_time",
        "gap",
        "key",
        "kind",
        "mistake_round",
        "mistakes",  # refusals of one reason on one target: what, how often, since which call, the latest, in which round
        "tool",
        "transient",
        "unknown",
    )
    PARTS = {"args": Said}
    args: Said | None = None
    chain = chain_first = chain_round = chain_asked = 0
    chain_keys: tuple[int, ...] = ()
    echo = echo_first = echo_round = epoch = key = 0
    failed = failed_first = failed_round = failed_asked = failed_epoch = failure = ok_round = 0
    failed_before: tuple[int, int, int] = (0, 0, 0)
    """What the failures had come to before the round that goes on: how many, of which class, since which call."""
    failed_classes: tuple[int, ...] = ()
    failure_time: float | None = None
    gap: float | None = None
    kind = "other"
    mistake_round = 0
    mistakes: tuple[tuple[int, int, int, int, int], ...] = ()
    unknown = transient = False
    error: str | None = None
    """The failure's telling line, for the model only; never saved."""

    def __init__(self, tool: str) -> None:
        self.tool = tool

    def signs(self, round_: int) -> int:
        """What the round with that number may be a sign of."""
        signs = CHAIN if self.chain > 1 else 0
        if self.failed > 1:
            signs |= FAILED
        if self.echo > 1:
            signs |= ECHO
        return signs | MISTAKE if self.mistake_round == round_ else signs

    @property
    def chain_anchor(self) -> int:
        """What the chain is recognised by: the tool and the outcome."""
        return text_digest(self.tool) ^ self.raw

    def is_alike(self, said: Said, share: float = ALIKE) -> bool:
        """Whether a call's arguments are a spelling of the latest call's."""
        return self.args is not None and self.args.is_like(said, share)


class Round(Row):
    """One response and its calls: the unit in which cycles are counted."""

    FIELDS: ClassVar[tuple[str, ...]] = (
        "calls",
        "expected",
        "last_call",
        "message",
        "number",
        "open",
        "parts",
        "response",
        "waits",
        "worked",
        "written",
        "delegated",
        "refused",
    )
    MANY = {"delegated": Pending, "refused": Pending}
    open = calls = last_call = 0
    waits = False
    worked = False
    delegated: tuple[Pending, ...] = ()
    """Delegations that succeeded."""
    refused: tuple[Pending, ...] = ()
    """Calls that a guard did not let run."""
    written: tuple[int, ...] = ()
    """New writes that succeeded: the world changes when the round is over, in whatever order its calls stand."""

    def __init__(self, number: int, message: int | None, response: int, expected: int | None) -> None:
        self.number, self.message, self.response, self.expected = number, message, response, expected
        self.parts: list[tuple[int, int, str]] = []  # symbol, key and tool of each finished exchange

    def join(self, pending: Pending, symbol: int) -> None:
        """One of its exchanges is complete."""
        self.parts.append((symbol, pending.key, pending.tool))
        if pending.call > self.last_call:
            self.last_call = pending.call
        if pending.kind == "wait":
            self.waits = True

    def holds(self, key: int) -> bool:
        """Whether one of its finished exchanges was the same call."""
        return any(part[1] == key for part in self.parts)

    def step(self) -> Step:
        """The round as one symbol: parallel calls are a set, a duplicate among them counts once."""
        parts = self.parts
        if len(parts) == 1:
            symbol, key, tool = parts[0]
            return Step(symbol, self.last_call, self.response, (symbol,), (key,), (tool,), self.waits)
        symbols = tuple(sorted({part[0] for part in parts}))
        whole = symbols[0] if len(symbols) == 1 else text_digest(",".join(map(str, symbols)))
        keys, tools = tuple(sorted({part[1] for part in parts})), tuple(sorted({part[2] for part in parts}))
        return Step(whole, self.last_call, self.response, symbols, keys, tools, self.waits)
