"""`turn_budget`: how often a tool may bring nothing new within one turn of a person."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unstuck.config import Options
from unstuck.detectors.turn_budget import TurnBudget
from unstuck.errors import SettingsError
from unstuck.events import User
from unstuck.findings import Level
from unstuck.ladder import Ladder
from unstuck.monitor import Monitor
from unstuck.policy import Policy
from unstuck.presets import PRESETS, Rules, preset
from unstuck.testing import call, result

ALONE = Rules((TurnBudget(),), Policy())


def climbed(exchanges, rules: Rules = ALONE, monitor: Monitor | None = None) -> list[tuple[str, int | None]]:
    """The levels reached and the calls at which that was, blocks carried out and the run ended at a stop."""
    monitor, found = monitor or Monitor(rules), []
    for number, (tool, args, came) in enumerate(exchanges, 1):
        decision = monitor.observe(call(tool, args, id=str(number)))
        found += [(one.level.label, one.call) for one in decision.findings]
        if decision.level is Level.STOP:
            break
        if decision.level is Level.BLOCK:
            monitor.observe(result(decision.text, id=str(number), outcome="blocked"))
        else:
            found += [(one.level.label, one.call) for one in monitor.observe(result(came, id=str(number))).findings]
    return found


@pytest.mark.parametrize("name", PRESETS)
def test_no_preset_has_it(name):
    """It is off unless it is added, and settings add it."""
    assert "turn_budget" not in [detector.pattern for detector in preset(name).detectors]
    added = Options(preset=name, detectors={"turn_budget": TurnBudget(Ladder(nudge=2))}).rules()
    assert added.detectors[-1] == TurnBudget(Ladder(nudge=2))


@pytest.mark.parametrize(
    ("tool", "expected"),
    [
        ("read_file", [("nudge", 5), ("block", 8), ("stop", 12)]),
        ("write_file", [("nudge", 3), ("block", 5), ("stop", 7)]),
        ("wait_for_job", [("nudge", 10), ("block", 16), ("stop", 24)]),
    ],
)
def test_reads_and_writes_have_rungs_of_their_own(tool, expected):
    """Equal calls of a tool that looks, changes or waits climb the rungs of that kind, one by one."""
    assert climbed([(tool, {"path": "a"}, "same")] * 40) == expected


def test_repeats_are_counted_over_calls_and_changes():
    """What counts is old news of the tool in the turn: three files in turn, with edits between them, add up."""
    exchanges = []
    for lap in range(6):
        exchanges += [("read_file", {"path": name}, f"text of {name}") for name in "abc"]
        exchanges.append(("edit_file", {"path": "z", "text": str(lap)}, "OK"))
    assert climbed(exchanges)[:2] == [("nudge", 9), ("block", 13)]


@pytest.mark.parametrize(
    "exchanges",
    [
        [("edit_file", {"path": f"{n}.md"}, "OK: file updated") for n in range(200)],
        [("fetch", {"page": n}, f"page {n}") for n in range(200)],
        [("job_status", {"id": 1}, f"{n} of 200 done") for n in range(200)],
        [("run_tests", {}, f"{200 - n} failed") for n in range(200)],
    ],
    ids=["batch", "pages", "poll", "tests"],
)
def test_work_that_advances_has_no_limit(exchanges):
    """New arguments, or the same with a new outcome, never come to a rung."""
    assert climbed(exchanges) == []


def test_a_clock_in_the_answer_is_no_advance():
    """Outcomes are compared after masking what is volatile; the second of a call is where that begins."""
    exchanges = [("read_file", {"path": "a"}, f"ready at 12:00:{n:02d}, request_id=req-{n}") for n in range(30)]
    assert [level for level, _ in climbed(exchanges)] == ["nudge", "block", "stop"]


def test_a_person_begins_it_anew():
    """The tallies belong to a turn."""
    monitor = Monitor(ALONE)
    for _ in range(10):
        monitor.observe(User("r", "Again, please."))
        assert climbed([("read_file", {"path": "a"}, "same")] * 4, monitor=monitor) == []


def test_settings_are_checked():
    """What is no ladder is refused by name."""
    with pytest.raises(SettingsError, match=r"turn_budget\.writes"):
        TurnBudget(writes=3)  # type: ignore[arg-type]


EXCHANGES = st.lists(
    st.tuples(st.sampled_from(["read_file", "write_file"]), st.sampled_from([{"p": 1}, {"p": 2}]), st.sampled_from("xy")),
    max_size=40,
)


@given(EXCHANGES, st.integers(0, 40))
def test_it_goes_on_from_saved_state(exchanges, cut):
    """Saved after any exchange and taken up again, it decides as if nothing had happened."""
    whole, resumed = Monitor(ALONE), Monitor(ALONE)
    for number, (tool, args, came) in enumerate(exchanges):
        if number == cut:
            resumed = Monitor.load(resumed.dump(), ALONE)
        for event in (call(tool, args, id=str(number)), result(came, id=str(number))):
            assert whole.observe(event) == resumed.observe(event)
    assert whole.ledger.spent is not None
    assert resumed.ledger.spent is not None
    assert whole.ledger.spent.dump() == resumed.ledger.spent.dump()


def test_state_is_bounded():
    """Two hundred thousand characters of arguments and results leave digests of the latest calls."""
    monitor, sizes = Monitor(ALONE), []
    for number in range(4_000):
        monitor.observe(call(f"tool_{number % 100}", {"text": "x" * 50, "n": number}, id="c"))
        monitor.observe(result(f"result {number}", id="c"))
        if number in (1_999, 3_999):
            sizes.append(len(monitor.dump()))
    assert sizes[1] < sizes[0] * 1.2
