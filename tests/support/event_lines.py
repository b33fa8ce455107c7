"""Runs as the text of an event file."""

from __future__ import annotations

import json
from collections.abc import Iterable

from unstuck.events import TYPE_NAMES, Event


def text(events: Iterable[Event]) -> str:
    """One line of JSON an event."""
    return "".join(json.dumps({"type": TYPE_NAMES[type(event)]} | event._asdict()) + "\n" for event in events)
