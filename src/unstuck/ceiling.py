"""The ceiling of unattended runs: identical exchanges are counted over the whole run, exempt tools included."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from unstuck.fingerprint import text_digest
from unstuck.records import Row
from unstuck.volatile import mask


class Tally(Row):
    """One call with one masked outcome, and how often they came together."""

    FIELDS = ("agent", "count", "first", "key", "masked", "raw", "tool")
    text: str | None = None

    def __init__(self, key: int, raw: int, text: str, tool: str, agent: str, call: int) -> None:
        self.key, self.raw, self.tool, self.agent, self.first = key, raw, tool, agent, call
        self.text = text
        self.masked: int | None = None
        self.count = 1

    def settle(self) -> None:
        if self.masked is None:
            self.masked = text_digest(mask(self.text or ""))
            self.text = None


class Ceiling:
    """
    Counts identical exchanges while a run is unattended.

    Args: *limit*: exchanges after which the run is stopped; *window*: sixteen times as many distinct ones are remembered,
    those seen least often make room.
    """

    def __init__(self, limit: int, window: int) -> None:
        self.limit = limit
        self.most = 16 * window
        self.tallies: OrderedDict[int, list[Tally]] = OrderedDict()

    def count(self, key: int, raw: int, text: str, tool: str, agent: str, call: int) -> Tally | None:
        """Take up one exchange; returns its tally where the limit is reached."""
        variants = self.tallies.get(key)
        if variants is None:
            self.tallies[key] = [Tally(key, raw, text, tool, agent, call)]
            if len(self.tallies) > self.most:
                self._make_room()
            return None
        tally = self._variant(variants, raw, text)
        if tally is None:
            variants.append(Tally(key, raw, text, tool, agent, call))
            if len(variants) > 4:
                variants.remove(min(variants[:-1], key=lambda variant: variant.count))
            return None
        tally.count += 1
        return tally if tally.count >= self.limit else None

    def _variant(self, variants: list[Tally], raw: int, text: str) -> Tally | None:
        for variant in variants:
            if variant.raw == raw:
                return variant
        masked = text_digest(mask(text))
        for variant in variants:
            variant.settle()
            if variant.masked == masked:
                return variant
        return None

    def _make_room(self) -> None:
        # The half that was seen least often goes, the oldest first, so that a call that does repeat keeps its count.
        ranked = sorted(self.tallies.items(), key=lambda item: max(variant.count for variant in item[1]))
        for key, _ in ranked[: self.most // 2]:
            del self.tallies[key]

    def dump(self) -> dict[str, Any]:
        """The counts as JSON values."""
        return {"tallies": [[tally.row() for tally in group] for group in self.tallies.values()]}

    @classmethod
    def load(cls, saved: dict[str, Any], limit: int, window: int) -> Ceiling:
        """The counts that were dumped."""
        made = cls(limit, window)
        for group in saved["tallies"]:
            tallies = [Tally.from_row(row) for row in group]
            made.tallies[tallies[0].key] = tallies
        return made
