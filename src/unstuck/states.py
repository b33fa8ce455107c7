"""The records of a run's calls: one that is open, one that was made, its tool, its round."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

from unstuck.aims import aims_of, apart_from_question
from unstuck.commands import asks, command_of, seconds_of
from unstuck.cycles import WAITS, Part, Step
from unstuck.events import Call
from unstuck.fingerprint import text_digest
from unstuck.kinds import target_digest
from unstuck.records import ALIKE, Row, Said, Sameness, answer_words, beginning, is_heavy
from unstuck.signs import CHAIN, ECHO, FAILED, MISTAKE
from unstuck.sketch import Sketch
from unstuck.swings import Told, state_of
from unstuck.volatile import mask, numbers
from unstuck.words import CURSOR_FIELDS

MOST_KNOWN = 192
"""Words that are remembered of the differing answers to one call."""
_WAITS = frozenset(("wait", "step"))
_APART = 0x9E3779B97F4A7C15
"""Odd, so that no two calls come to one symbol where nobody saw what they came to."""
_64_BITS = 0xFFFFFFFFFFFFFFFF


class Pending(Said):
    """A call whose result is not there yet."""

    FIELDS: ClassVar[tuple[str, ...]] = (
        *Said.FIELDS,
        *(
            "agent",
            "apart",
            "approved",
            "call",
            "exempt",
            "ignored",
            "is_shell",
            "key",
            "kind",
            "message",
            "target",
            "time",
        ),
        *("told", "tool", "way", "whole", "names", "says_no", "seconds", "slow"),
    )
    ignored = exempt = is_shell = apart = excused = approved = unseen = False
    time: float | None = None
    whole = 0
    """The fingerprint with the arguments that only tell one call from another (a nonce, a clock), 0 where there are none."""
    way = 0
    """Of work that is passed on: the fingerprint without the reasons given for it."""
    target: int | None = None
    told: Told | None = None
    names: tuple[int, ...] | None = None
    says_no: bool | None = None
    seconds: float | None = None
    slow = 0
    """How many looks such as this one count as one: 0 where no time was let pass before it."""

    def __init__(self, event: Call, call: int, message: int, key: int, kind: str, args: Any) -> None:
        _, _, self.tool, _, _, self.agent, _, _, time, _, _, approved, _ = event
        self.call, self.message, self.key, self.kind, self.value = call, message, key, kind, args
        if time is not None:
            self.time = time
        if approved:
            self.approved = True
        if kind == "write":
            self.told = state_of(self.tool, args)

    def lighten(self) -> None:
        """Keep of heavy arguments no more than their beginning."""
        if is_heavy(self.value):
            self.aims_at()
            self.value = beginning(self.value)

    @property
    def said(self) -> Said:
        """The words of its arguments."""
        return self

    def aims_at(self) -> int:
        """The digest of the target that its arguments name, 0 where they name none."""
        if self.target is None:
            self.target = target_digest(self.value)
        return self.target

    def aims(self) -> tuple[int, ...]:
        """The digests of the names in its arguments."""
        if self.names is None:
            self.names = aims_of(self.value)
        return self.names

    def may_say_no(self) -> bool:
        """Whether it is a command whose exit status is an answer."""
        if self.says_no is None:
            command = command_of(self.value)
            self.says_no = command is not None and asks(command)
        return self.says_no

    def waits(self) -> float:
        """The seconds for which it says that it waits."""
        if self.seconds is None:
            self.seconds = seconds_of(self.value)
        return self.seconds

    def settle(self) -> None:
        """Take the digests that tell calls apart."""
        super().settle()
        self.aims_at()

    def complete(self) -> None:
        """Take from the arguments, which are not saved, all that may be asked of them."""
        super().complete()
        self.aims()
        self.may_say_no()
        self.waits()


class Once(NamedTuple):
    """A call that was made once: most never come again, so that this is all that is kept until they do."""

    key: int
    tool: str
    kind: str
    call: int
    raw: int
    text: str
    round: int
    epoch: int
    stirred: int
    whole: int
    compaction: int
    time: float | None


class CallState(Sameness):
    """One distinct call (tool and arguments) and how it has gone since the world last changed."""

    FIELDS: ClassVar[tuple[str, ...]] = (
        *Sameness.FIELDS,
        "asked",  # times it was asked for again after a block
        "blind",  # looks whose outcome was not recorded
        "compaction",
        "differing",  # answers in a row that differed and said nothing new
        "epoch",
        "excused",  # repeats before which something was done that may have changed the world
        "final",  # whether what it looks at is over
        "first",
        "fresh_read",  # the epoch in which one re-read after a compaction was granted
        "gap",  # seconds between the latest failure and the attempt before
        "key",
        "kind",
        "known",  # digests of the words its differing answers have held
        "last",
        "lift",  # repeats that a person's approval still allows
        "numbers",
        "round",
        "runs",  # per number in the answer: how often in a row it rose (or, negative, fell)
        "same",  # times in a row it came to this outcome
        "slow",  # looks that came a minute and more after the one before
        "time",
        "stirred",
        "terse",  # whether its latest answer was short, of one that moves something on by one
        "tool",
        "varied",  # the call after which its answers began to differ and say nothing new
        "whole",  # the call with the arguments that only tell one call from another
    )
    SETS = frozenset(("known",))
    last = asked = blind = lift = slow = differing = round = varied = 0
    same = 1
    fresh_read = -1
    epoch = compaction = stirred = excused = whole = 0
    terse = True
    final = False
    news = False
    """Whether its latest answer was another than the one before; of no interest later."""
    numbers: tuple[float, ...] = ()
    runs: tuple[int, ...] = ()
    known: Sketch = frozenset()
    time: float | None = None
    gap: float | None = None

    def __init__(self, made: Once) -> None:
        self.key, self.tool, self.kind, self.first, self.raw, self.text, self.round, self.epoch, *_ = made
        self.last, self.stirred, self.whole, self.compaction, self.time = made.call, *made[8:]

    def settle(self) -> None:
        """Mask the outcome and note its words now."""
        super().settle()
        if not self.known and self.text is not None:
            self.note(mask(self.text))

    def note(self, masked: str) -> bool:
        """Take up an answer's words and numbers; return whether a number has been rising or falling for two answers."""
        if len(self.known) < MOST_KNOWN:
            self.known = self.known | answer_words(masked, self.kind == "step")
        found = numbers(masked)
        runs = []
        for index, number in enumerate(found):
            old = self.numbers[index] if index < len(self.numbers) else number
            run = self.runs[index] if index < len(self.runs) else 0
            runs.append(max(run, 0) + 1 if number > old else min(run, 0) - 1 if number < old else 0)
        self.numbers, self.runs = found, tuple(runs)
        return any(abs(run) >= 2 for run in runs)

    @property
    def aside(self) -> frozenset[str]:
        """Where to go on is no news but to a tool that goes on by itself."""
        return CURSOR_FIELDS if self.kind != "step" else frozenset()

    @property
    def symbol(self) -> int:
        """The call together with what it came to."""
        return self.key ^ self.raw


class ToolState(Sameness):
    """One tool, whatever its arguments: outcomes that repeat, failures, echoes."""

    FIELDS: ClassVar[tuple[str, ...]] = (
        *Sameness.FIELDS,
        "aims",  # names that its failing calls held
        "aim_round",
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
        "fresh",  # rounds of the streak in which something failed that had not before, or after something new was done
        "fresh_before",
        "fresh_now",
        "gap",
        "heard",  # the words of the answer to work that was passed on
        "key",
        "kind",
        "loose",  # whether the chain holds calls that have only a long answer in common
        "mistake_round",
        "mistakes",  # refusals of one reason on one target: what, how often, since which call, the latest, in which round
        "stirred",
        "tool",
        "transient",
        "unknown",
    )
    PARTS: ClassVar[Mapping[str, type[Row]]] = {"args": Said}
    SETS = frozenset(("heard",))
    heard: Sketch = frozenset()
    args: Said | None = None
    chain = chain_first = chain_round = chain_asked = 0
    chain_keys: tuple[int, ...] = ()
    echo = echo_first = echo_round = epoch = key = 0
    failed = failed_first = failed_round = failed_asked = failed_epoch = failure = ok_round = 0
    failed_before: tuple[int, int, int] = (0, 0, 0)
    """What the failures had come to before the round that goes on: how many, of which class, since which call."""
    failed_classes: tuple[int, ...] = ()
    failure_time: float | None = None
    aims: tuple[int, ...] = ()
    aim_round = fresh = fresh_before = stirred = 0
    fresh_now = False
    gap: float | None = None
    kind = "other"
    loose = False
    mistake_round = 0
    mistakes: tuple[tuple[int, int, int, int, int], ...] = ()
    unknown = transient = False
    error: str | None = None
    """The failure's telling line, for the model only; never saved."""

    def __init__(self, tool: str) -> None:
        self.tool = tool

    def signs(self, round_: int) -> int:
        """What the round with that number may be a sign of."""
        signs = CHAIN if self.chain > 1 and len(self.chain_keys) > 1 else 0
        if self.failed > 1:
            signs |= FAILED
        if self.echo > 1:
            signs |= ECHO
        return signs | MISTAKE if self.mistake_round == round_ else signs

    def settle(self) -> None:
        """Mask the outcome now, without the question that led to it."""
        self._take_question_out()
        super().settle()

    def again(self, raw: int, text: str) -> bool:
        """See `Sameness.again`; *text* is without the question that led to it."""
        self._take_question_out()
        return super().again(raw, text)

    def _take_question_out(self) -> None:
        if self.text is not None and self.args is not None and self.masked is None:
            self.text = apart_from_question(self.text, self.args.value)

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
        "marked",
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
        "stirs",
    )
    MANY: ClassVar[Mapping[str, type[Row]]] = {"delegated": Pending, "refused": Pending}
    open = calls = last_call = 0
    parts: Sequence[Part] = ()
    """Its finished exchanges."""
    waits = 0
    worked = False
    marked = False
    """Whether any of the following holds something."""
    delegated: tuple[Pending, ...] = ()
    """Delegations that succeeded."""
    refused: tuple[Pending, ...] = ()
    """Calls that a guard did not let run."""
    stirs: tuple[int, ...] = ()
    """What was done for the first time and may have changed the world."""
    written: tuple[int, ...] = ()
    """New writes that succeeded: the world changes when the round is over, in whatever order its calls stand."""

    def __init__(self, number: int, message: int | None, response: int, expected: int | None) -> None:
        self.number, self.message, self.response, self.expected = number, message, response, expected

    def join(self, pending: Pending, symbol: int) -> None:
        """One of its exchanges is complete."""
        call = pending.call
        if pending.unseen:
            symbol ^= call * _APART & _64_BITS
        self.parts = (*self.parts, (symbol, pending.key, pending.tool))
        if call > self.last_call:  # noqa: PLR1730 - max() costs more than the comparison, on every exchange
            self.last_call = call
        if pending.kind in _WAITS and not self.waits:
            self.waits = WAITS

    def holds(self, key: int) -> bool:
        """Whether one of its finished exchanges was the same call."""
        return any(part[1] == key for part in self.parts)

    def step(self) -> Step:
        """The round as one symbol: parallel calls are a set, a duplicate among them counts once."""
        parts = self.parts
        whole = parts[0][0]
        if len(parts) > 1:
            symbols = sorted({part[0] for part in parts})
            whole = symbols[0] if len(symbols) == 1 else text_digest(",".join(map(str, symbols)))
        return _tuple(Step, (whole, self.last_call, self.response, parts, self.waits))


_tuple = tuple.__new__  # a named tuple's own constructor costs three times as much, on every exchange
