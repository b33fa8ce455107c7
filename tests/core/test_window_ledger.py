"""The ledger of the window rules beside the ledger of all rules, and the short cut of masking beside masking."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.runs import bare, events_of, scripts
from unstuck.detectors.detector import Detector, Evidence
from unstuck.detectors.repeated_text import RepeatedText
from unstuck.detectors.windowed import WindowedAlternation, WindowedCall, WindowedResult
from unstuck.events import Call
from unstuck.ladder import Ladder
from unstuck.monitor import Monitor
from unstuck.panel import Panel
from unstuck.policy import Policy
from unstuck.presets import Rules, preset
from unstuck.view import View
from unstuck.volatile import mask, surely_differ
from unstuck.window_ledger import WindowLedger


class Idle(Detector):
    """Finds nothing, but is no window rule, so that the ledger of all rules is taken."""

    pattern = "stuck_poll"
    moments = frozenset(("round",))
    needs = frozenset(("window",))
    rungs = Ladder(nudge=2)

    def look(self, view: View) -> Evidence | None:
        """Nothing is found."""
        return None


WINDOWED = (
    WindowedResult(Ladder(nudge=2), span=4),
    WindowedAlternation(Ladder(nudge=2), span=6),
    WindowedCall(Ladder(nudge=3)),
)

rules = st.sampled_from(
    (
        preset("pydantic-ai-harness"),
        Rules((*WINDOWED, RepeatedText()), Policy(consume=True)),
        Rules(WINDOWED[::-1], Policy(one_per_round=True)),
        Rules((WindowedCall(Ladder(nudge=2, stop=4)),), Policy(ceiling=10)),
    )
)


@given(script=scripts, rules=rules, attended=st.booleans(), numbered=st.booleans())
def test_the_ledger_of_the_window_rules_decides_as_the_ledger_of_all_rules(
    script: list[Any], rules: Rules, attended: bool, numbered: bool
):
    """Rules that look at the last calls alone decide the same whichever ledger they are given, unattended runs included."""
    quick, whole = Monitor(rules), Monitor(rules._replace(detectors=(*rules.detectors, Idle())))
    assert isinstance(quick.ledger, WindowLedger)
    assert not isinstance(whole.ledger, WindowLedger)
    for given_event in events_of(script, attended=attended, odd=True):
        event = given_event if numbered or type(given_event) is not Call else given_event._replace(message=None)
        assert bare(quick.observe(event)) == bare(whole.observe(event)), event
    assert (quick.calls, quick.messages) == (whole.calls, whole.messages)


def test_only_rules_that_it_serves_get_the_ledger_of_the_window_rules():
    """A detector that is asked before a call, or that needs more than the window, gets the ledger of all rules."""
    assert Panel(preset("pydantic-ai-harness").detectors).window_only
    assert not Panel((RepeatedText(),)).window_only
    assert not Panel((*WINDOWED, Idle())).window_only
    assert not any(Panel(preset(name).detectors).window_only for name in ("default", "praisonai", "pydantic-deep"))


PIECES = (
    *("\n", "{", "}", " ", ":", "=", "#", '"', ",", "id", "pid", "tmpabcdefgh", "tmpqrstuvwx", "/", "~", ".", "12", "7"),
    *("12:34:56", "2024-01-02", "0xdeadbeef", "Mon", "Jan 5", "attempt 3", "read 5 times", "1.5s", " left", "In [3]", "took"),
    *("Mar  3", "Mon, Mar  3 ", "app[12]: ", "[1234] ERROR", "1/1 ", " 3m", "3m12s ago", "[turn 7]", "0.0.1:40001", "seed: 12"),
    *("01HT4D38E6E35C322E2833E103", "Tokens used: 12, cost $0.1", "(x1 over 3m)", "3m  Warning ", "--_Part_a1b2c3", "pytest-3"),
)
pieces = st.sampled_from(PIECES)


@given(st.lists(pieces, max_size=40), st.data())
def test_texts_that_surely_differ_do_differ_once_masked(parts: list[str], data: st.DataObject):
    """The look at the first piece that differs never calls texts different that masking makes equal."""
    place = data.draw(st.integers(0, len(parts)))
    other = [*parts[:place], *data.draw(st.lists(pieces, max_size=2)), *parts[place + data.draw(st.integers(0, 2)) :]]
    one, two = "".join(parts), "".join(other)
    assert not (surely_differ(one, two) and mask(one) == mask(two))


def test_a_number_in_another_row_makes_texts_surely_different():
    """Two pages of rows that differ in a number that is no volatile token are told apart without masking either."""
    assert surely_differ('{"id":1,"size":5}\n' * 3, '{"id":1,"size":5}\n{"id":2,"size":5}\n')
    assert not surely_differ('{"time":"12:30:01"}', '{"time":"12:30:02"}')


@pytest.mark.parametrize(
    ("one", "other"),
    [("took 1\ntmpabcdefgh\n", "took 1\ntmpqrstuvwx\n"), ("pid\n=123\n", "pid\n=456\n"), ("a 1", "a 2"), ("a {1}", "a {1}")],
    ids=("a temporary file without a digit", "a name on the line before", "no end of the piece", "no difference"),
)
def test_where_a_piece_cannot_be_judged_alone_nothing_is_concluded(one: str, other: str):
    """A piece whose masking depends on what stands around it is left to masking."""
    assert not surely_differ(one, other)
