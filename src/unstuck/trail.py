"""
What one agent has shown so far in one turn: distinct calls, tools, rounds, failures, texts.

Plain records with slots, all of it bounded, all of it JSON: `row()` and `from_row()` are each other's inverse. Texts stand here
only until their digest is needed and are never saved: `row()` takes the digest first.
"""

from __future__ import annotations

import re
from collections import OrderedDict, deque
from collections.abc import Mapping
from typing import Any, ClassVar, Self

from unstuck import words
from unstuck.cycles import Cycles, Step
from unstuck.fingerprint import text_digest, text_of
from unstuck.sketch import Sketch, likeness, sketch, words_of
from unstuck.volatile import mask, template
from unstuck.window import CallWindow

FIRST_WORDS = re.compile(r"[^\W_]+(?![^\W_]*$)")
_SIMPLE = frozenset((str, int))
ALIKE = 0.7
"""The share of words from which on two calls are spellings of one."""


class Row:
    """A record whose slots are its saved form; `TEXTS` names the slots that are never saved."""

    __slots__ = ()
    TEXTS: ClassVar[frozenset[str]] = frozenset()

    def settle(self) -> None:
        """Take the digests that were put off."""

    @classmethod
    def _saved(cls) -> list[str]:
        names: tuple[str, ...] = tuple(cls.__slots__)
        return [name for name in names if name not in cls.TEXTS]

    def row(self) -> list[Any]:
        """The saved form."""
        self.settle()
        return [_plain(getattr(self, name)) for name in self._saved()]

    @classmethod
    def from_row(cls, row: list[Any]) -> Self:
        """The record that *row* was saved from."""
        made = cls.__new__(cls)
        kept = cls._saved()
        if len(row) != len(kept):
            raise ValueError(f"{cls.__name__} has {len(kept)} fields, found {len(row)}")
        for name, value in zip(kept, row, strict=True):
            setattr(made, name, value)
        for name in cls.TEXTS:
            setattr(made, name, None)
        made.restore()
        return made

    def restore(self) -> None:
        """Turn what JSON cannot hold back into what it was."""


def _plain(value: Any) -> Any:
    return sorted(value) if isinstance(value, (set, frozenset)) else value


class Sameness(Row):
    """The latest outcome of something, and whether the next one says anything else."""

    __slots__ = ("masked", "raw", "receipt", "text")
    TEXTS = frozenset(("text",))

    def __init__(self, raw: int, text: str, receipt: bool = False) -> None:
        self.raw = raw
        self.text: str | None = text
        self.receipt = receipt
        self.masked: int | None = None

    def settle(self) -> None:
        if self.masked is None:
            self.masked = self._digest(self.text or "")

    def _digest(self, text: str) -> int:
        masked = mask(text)
        return text_digest(template(masked) if self.receipt else masked)

    def again(self, raw: int, text: str) -> bool:
        """Whether an outcome says the same; of a receipt (`agent-3 started`) the numbers are no news. Keeps the newer one."""
        if raw == self.raw:
            return True
        self.settle()
        masked = self._digest(text)
        if masked == self.masked:
            return True
        self.raw, self.text, self.masked = raw, text, masked
        return False


class Said(Row):
    """The words of a call's arguments: all of them, and those that choose what it does."""

    __slots__ = ("chosen", "everything", "value")
    TEXTS = frozenset(("value",))

    def __init__(self, value: Any) -> None:
        self.value = value
        self.chosen: Sketch | None = None
        self.everything: Sketch | None = None

    def settle(self) -> None:
        if self.chosen is None:
            self.chosen = sketch(words_of(choosing_text(self.value)))
            self.everything = sketch(words_of(text_of(self.value)))

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
        return all(word in held for word in FIRST_WORDS.findall(text[:80].lower())[:4])

    def restore(self) -> None:
        self.chosen, self.everything = frozenset(self.chosen or ()), frozenset(self.everything or ())


def choosing_text(args: Any) -> str:
    """The values of *args* without remarks and limits, which do not choose what a call does."""
    if not isinstance(args, Mapping):
        return text_of(args)
    skipped = words.REMARK_FIELDS | words.LIMIT_FIELDS
    return " ".join(text_of(value) for name, value in args.items() if str(name).lower() not in skipped)


class CallState(Row):
    """One distinct call (tool and arguments) and how it has gone since the world last changed."""

    __slots__ = (
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
        "outcome",
        "round",
        "runs",  # per number in the answer: how often in a row it rose (or, negative, fell)
        "same",  # times in a row it came to this outcome
        "slow",  # looks that came a minute and more after the one before
        "time",
        "tool",
    )

    def __init__(self, key: int, tool: str, kind: str) -> None:
        self.key, self.tool, self.kind = key, tool, kind
        self.first = self.last = self.last_message = 0
        self.same = self.asked = self.lift = self.slow = self.differing = 0
        self.epoch = self.compaction = self.round = 0
        self.fresh_read = -1
        self.outcome: Sameness | None = None
        self.numbers: list[float] = []
        self.runs: list[int] = []
        self.known: set[int] = set()
        self.time: float | None = None

    @property
    def symbol(self) -> int:
        """The call together with what it came to."""
        return self.key if self.outcome is None else self.key ^ (self.outcome.raw * 31 & 0xFFFFFFFFFFFFFFFF)

    def row(self) -> list[Any]:
        saved = super().row()
        saved[self.__slots__.index("outcome")] = self.outcome.row() if self.outcome else None
        return saved

    def restore(self) -> None:
        self.known = set(self.known)
        row: Any = self.outcome
        self.outcome = Sameness.from_row(row) if row is not None else None


class ToolState(Row):
    """One tool, whatever its arguments: outcomes that repeat, failures, echoes."""

    __slots__ = (
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
        "error",  # the failure's first line, for the model only
        "failed",  # failures of one class in a row
        "failed_asked",
        "failed_epoch",
        "failed_first",
        "failed_round",
        "failure",
        "failure_time",
        "gap",
        "key",
        "mistake_call",
        "mistakes",  # refusals of one reason on one target: what, how often, since which call
        "outcome",
        "tool",
        "transient",
        "unknown",
    )
    TEXTS = frozenset(("error",))

    def __init__(self, tool: str) -> None:
        self.tool = tool
        self.args: Said | None = None
        self.error: str | None = None
        self.outcome: Sameness | None = None
        self.chain = self.chain_first = self.chain_round = self.chain_asked = 0
        self.chain_keys: list[int] = []
        self.echo = self.echo_first = self.echo_round = 0
        self.failed = self.failed_first = self.failed_round = self.failed_asked = self.failure = 0
        self.failure_time: float | None = None
        self.gap: float | None = None
        self.unknown = self.transient = False
        self.epoch = self.failed_epoch = 0
        self.mistakes: list[list[int]] = []
        self.mistake_call = self.key = 0

    @property
    def chain_anchor(self) -> int:
        """What the chain is recognised by: the tool and the outcome."""
        return text_digest(self.tool) ^ (self.outcome.raw if self.outcome is not None else 0)

    def is_alike(self, said: Said, share: float = ALIKE) -> bool:
        """Whether a call's arguments are a spelling of the latest call's."""
        before = self.args
        if before is None:
            return False
        before.settle()
        said.settle()
        return likeness(before.chosen or frozenset(), said.chosen or frozenset()) >= share

    def row(self) -> list[Any]:
        saved = super().row()
        kept = self._saved()
        saved[kept.index("outcome")] = self.outcome.row() if self.outcome else None
        saved[kept.index("args")] = self.args.row() if self.args else None
        return saved

    def restore(self) -> None:
        outcome: Any = self.outcome
        args: Any = self.args
        self.outcome = Sameness.from_row(outcome) if outcome is not None else None
        self.args = Said.from_row(args) if args is not None else None


class Round(Row):
    """One response and its calls: the unit in which cycles are counted."""

    __slots__ = ("calls", "expected", "keys", "last_call", "message", "number", "open", "response", "symbols", "tools", "waits")

    def __init__(self, number: int, message: int | None, response: int, expected: int | None) -> None:
        self.number, self.message, self.response, self.expected = number, message, response, expected
        self.open = 0  # calls without a result
        self.calls = 0
        self.last_call = 0
        self.symbols: list[int] = []
        self.keys: list[int] = []
        self.tools: list[str] = []
        self.waits = False

    def step(self) -> Step:
        """The round as one symbol: parallel calls are a set, a duplicate among them counts once."""
        symbols = tuple(sorted(set(self.symbols)))
        symbol = symbols[0] if len(symbols) == 1 else text_digest(",".join(map(str, symbols)))
        keys, tools = tuple(sorted(set(self.keys))), tuple(sorted(set(self.tools)))
        return Step(symbol, self.last_call, self.response, symbols, keys, tools, self.waits)


class Trail:
    """All of it for one agent."""

    def __init__(self, agent: str, window: int, span: int = 0) -> None:
        self.agent = agent
        self.window = window
        self.window_calls = CallWindow(span) if span else None
        self.spent: Any = None  # what the run has spent, where a budget wants to know
        self.calls: OrderedDict[int, CallState] = OrderedDict()
        self.tools: OrderedDict[str, ToolState] = OrderedDict()
        self.cycles = Cycles(window)
        self.round: Round | None = None
        self.rounds = 0
        self.empty = self.empty_first = self.empty_round = 0
        self.empty_tools: list[str] = []
        self.failure = self.failed = self.failed_first = self.failed_round = 0
        self.failed_tools: list[str] = []
        self.redundant: list[int] = []
        self.redundant_first = 0
        self.recent: deque[list[Any]] = deque(maxlen=window)  # call, message, key, tool, named as a repeat
        self.text = 0  # digest of the latest response without calls
        self.text_count = 0
        self.text_first = 0
        self.silent = 0
        self.talk: set[int] = set()
        self.talk_count = 0
        self.talk_first = 0

    def is_quiet(self, state: CallState, tool: ToolState) -> bool:
        """Whether nothing in the latest exchange was seen before."""
        return (
            state.same < 2
            and tool.chain < 2
            and tool.failed < 2
            and tool.echo < 2
            and self.empty < 2
            and self.failed < 2
            and not (state.differing or self.redundant or tool.mistake_call == state.last)
        )

    def end_talk(self) -> None:
        """The agent acted."""
        self.text_count = self.silent = self.talk_count = 0
        self.talk.clear()

    @property
    def most(self) -> int:
        """Distinct calls that are remembered."""
        return 4 * self.window

    def consume(self, keys: tuple[int, ...]) -> None:
        """Count what formed a reported loop no more."""
        if self.window_calls is not None:
            self.window_calls.consume(keys)
        if self.text in keys:
            self.text_count = 0

    _SCALARS = (
        "rounds empty empty_first empty_round empty_tools failure failed failed_first failed_round failed_tools redundant "
        "redundant_first text text_count text_first silent talk_count talk_first"
    ).split()

    def dump(self) -> dict[str, Any]:
        """The trail as JSON values."""
        return {
            "agent": self.agent,
            "calls": [state.row() for state in self.calls.values()],
            "tools": [state.row() for state in self.tools.values()],
            "cycles": self.cycles.dump(),
            "window": self.window_calls.dump() if self.window_calls is not None else None,
            "round": self.round.row() if self.round else None,
            "recent": list(self.recent),
            "talk": sorted(self.talk),
            "plain": [getattr(self, name) for name in self._SCALARS],
        }

    @classmethod
    def load(cls, saved: dict[str, Any], window: int, span: int) -> Trail:
        """The trail that was dumped."""
        trail = cls(saved["agent"], window, span)
        if span and saved["window"] is not None:
            trail.window_calls = CallWindow.load(saved["window"], span)
        for row in saved["calls"]:
            state = CallState.from_row(row)
            trail.calls[state.key] = state
        for row in saved["tools"]:
            tool = ToolState.from_row(row)
            trail.tools[tool.tool] = tool
        trail.cycles = Cycles.load(saved["cycles"], window)
        trail.round = Round.from_row(saved["round"]) if saved["round"] else None
        trail.recent.extend(saved["recent"])
        trail.talk = set(saved["talk"])
        for name, value in zip(cls._SCALARS, saved["plain"], strict=True):
            setattr(trail, name, value)
        return trail
