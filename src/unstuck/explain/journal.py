"""What each call of a run was: the memory that the ledger, which keeps digests only, does not have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from unstuck.events import Call, Event, Message, Result
from unstuck.explain.answer import LeftOut
from unstuck.fingerprint import arguments

if TYPE_CHECKING:
    from unstuck.ledger import Ledger
    from unstuck.swings import Told


class Made:
    """One call: its place, what it was taken for, what came back (`settled`: whether anything did)."""

    def __init__(self, event: Call, call: int, message: int, key: int) -> None:
        self.call, self.message, self.key = call, message, key
        self.args: Any = arguments(event.args)
        self.agent, self.tool, self.approved, self.origin = event.agent, event.tool, event.approved, event.origin
        self.kind = "other"
        self.round = 0
        self.earlier: int | None = None
        self.exempt = False
        self.told: Told | None = None
        self.settled = False
        self.content: Any = None
        self.outcome = "ok"

    @property
    def left_out(self) -> str | None:
        """Why it was no evidence, `None` where it was."""
        if self.origin != "model":
            return self.origin
        if self.exempt:
            return "exempt"
        if self.approved:
            return "approved"
        if not self.settled:
            return "no_result"
        return "blocked" if self.outcome == "blocked" else None


class Journal:
    """The calls of a run by ordinal, and which of them changed the world in the event just seen."""

    def __init__(self) -> None:
        self.calls: dict[int, Made] = {}
        self.responses: dict[int, list[Made]] = {}
        self.latest: dict[int, int] = {}
        self.texts: dict[int, str] = {}
        self.changed: tuple[int, ...] = ()
        self.now: Made | None = None
        self._written: frozenset[int] = frozenset()
        self._epoch = 0

    def before(self, event: Event, ledger: Ledger) -> None:
        """An event is about to be observed."""
        self._written, self._epoch = frozenset(ledger.written), ledger.epoch
        self.now = None
        if isinstance(event, Result):
            pending = ledger.open.get(event.id)
            if pending is not None:
                self.now = made = self.calls[pending.call]
                made.settled, made.content, made.outcome = True, event.content, event.outcome

    def after(self, event: Event, ledger: Ledger) -> None:
        """It was observed."""
        if isinstance(event, Call):
            pending = ledger.open[event.id]
            made = self.calls[pending.call] = Made(event, pending.call, pending.message, pending.key)
            made.kind, made.exempt, made.told = pending.kind, pending.exempt, pending.told
            round_ = ledger.trails[event.agent].round
            made.round = round_.number if round_ is not None and not pending.apart else -pending.call
            self.responses.setdefault(pending.message, []).append(made)
            made.earlier = self.latest.get(pending.key)
            self.latest[pending.key] = pending.call
        elif isinstance(event, Message):
            self.texts[ledger.messages] = event.text or event.reasoning or ""
        new = [key for key in ledger.written if key not in self._written] if ledger.epoch != self._epoch else []
        self.changed = tuple(sorted(self.latest[key] for key in new if key in self.latest))

    def left_out(self, agent: str, first: int, last: int, counted: set[int]) -> tuple[LeftOut, ...]:
        """The calls of *agent* (empty: of all) from *first* to *last* that were no evidence nor *counted*, by reason."""
        found: dict[str, list[int]] = {}
        for made in self.calls.values():
            within = first <= made.call <= last and made.call not in counted
            if within and made.left_out and (not agent or made.agent == agent):
                found.setdefault(made.left_out, []).append(made.call)
        return tuple(LeftOut(reason, tuple(calls)) for reason, calls in found.items())
