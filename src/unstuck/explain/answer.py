"""What an explanation says, as plain values; `docs/explain.md` describes its JSON form."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from unstuck.findings import Level, Unit
from unstuck.ladder import Ladder


class Shown(NamedTuple):
    """
    A text, cut in its middle where it is long; *marks* are the stretches in it that were not taken for news.

    *whole* is a digest of all of it but what was marked: where two are equal, so are the texts.
    """

    text: str
    marks: tuple[tuple[int, int], ...] = ()
    whole: int = 0

    @property
    def masked(self) -> tuple[str, ...]:
        """The marked stretches."""
        return tuple(self.text[start:end] for start, end in self.marks)


class Decided(NamedTuple):
    """What was decided at an exchange, *before* the call ran or after."""

    level: Level
    before: bool


class Exchange(NamedTuple):
    """
    One call of *agent* with its outcome, one response (*tool* is `None`), or what lay between two compactions.

    *repeats* is what the count came to with it, `None` where it did not count; *why* names the reason for that, or what is special
    about how it counted. *earlier* is the latest call before that was the same. *decisions* fell here. *ignored* are arguments that
    were not compared.
    """

    call: int | None
    message: int
    agent: str
    tool: str | None = None
    args: Shown | None = None
    outcome: str | None = None
    result: Shown | None = None
    repeats: int | None = None
    why: str | None = None
    earlier: int | None = None
    ignored: tuple[str, ...] = ()
    decisions: tuple[Decided, ...] = ()

    @property
    def result_masked(self) -> tuple[str, ...]:
        """What was masked in the result."""
        return self.result.masked if self.result is not None else ()


class Reset(NamedTuple):
    """
    Where the count went back, and for what *reason*; *calls* are the calls that did it, with their *tools*.

    *call* is the last call by then, *message* the response. *carried* repeats from before are added once the first rung is reached again.
    """

    call: int | None
    message: int
    reason: str
    calls: tuple[int, ...] = ()
    tools: tuple[str, ...] = ()
    carried: int = 0


Entry: TypeAlias = Exchange | Reset


class Rung(NamedTuple):
    """A finding: which *level* was decided, at which call (`None`: about text) and response, at how many *repeats*, *before* the call ran."""

    level: Level
    call: int | None
    message: int
    repeats: int
    carried: int = 0
    before: bool = False
    would: Level | None = None


class Next(NamedTuple):
    """
    The rung that comes next: at so many *repeats*, after *more* further repeats (`None`: cannot be said), *before* the last of them runs.

    *carried* of them are from before the count went back. *level* is `None` where no rung is left, and *why* says why.
    """

    level: Level | None
    repeats: int | None = None
    more: int | None = None
    before: bool = False
    carried: int = 0
    why: str | None = None


class LeftOut(NamedTuple):
    """Calls in the stretch that were no evidence, and the *reason*."""

    reason: str
    calls: tuple[int, ...]


class Strand(NamedTuple):
    """
    One loop as one detector saw it: its *entries* in order, the rungs it reached, the one that comes next.

    *rule* says what is looked for where the pattern alone does not, *between* counts the other calls from the first entry to the last;
    *elsewhere* holds the rungs that the same loop reached by other patterns, which count for its ladder too.
    """

    loop: int
    pattern: str
    agent: str
    tools: tuple[str, ...]
    unit: Unit
    period: int
    rule: str
    ladder: Ladder
    ladder_from: str
    rungs: tuple[Rung, ...]
    entries: tuple[Entry, ...]
    left_out: tuple[LeftOut, ...]
    between: int
    next: Next
    elsewhere: tuple[tuple[str, Rung], ...] = ()

    @property
    def level(self) -> Level:
        """The strongest decision."""
        return max(rung.would or rung.level for rung in self.rungs)


class Closest(NamedTuple):
    """
    A count that stayed below the first rung, which is at *rung*: so many *repeats* of the *unit*.

    *first_call* and *call* are where it began and where it was highest, `None` for text; *message* is the response by then.
    """

    pattern: str
    agent: str
    tools: tuple[str, ...]
    repeats: int
    unit: Unit
    rung: int
    first_call: int | None
    call: int | None
    message: int


class Explanation(NamedTuple):
    """One run: its size, the rule set it was judged by, and each of its loops; where there is none, what came *closest*."""

    run: str
    source: str
    format: str
    calls: int
    messages: int
    rules: str
    strands: tuple[Strand, ...]
    closest: tuple[Closest, ...] = ()
