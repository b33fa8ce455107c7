"""`budget`: what a run may spend."""

from __future__ import annotations

from typing import Any

import pytest

from unstuck.config import Options
from unstuck.detectors.budget import Budget
from unstuck.errors import SettingsError
from unstuck.events import Call, Message, Result, Usage, User
from unstuck.findings import Level
from unstuck.ladder import Ladder
from unstuck.monitor import Monitor
from unstuck.policy import Policy
from unstuck.presets import PRESETS, Rules, preset


def cents(model: str | None, usage: Usage) -> float | None:
    """One cent for each token of `known`."""
    return usage.total / 100 if model == "known" else None


def spend(budget: Budget, steps: int, *, model: str = "known", seconds: float = 60.0) -> list[tuple[str, int, int | None]]:
    """Responses of 100 tokens with one call each, a minute apart; returns level, response and call of each finding."""
    monitor, found = Monitor(Rules((budget,), Policy())), []
    for number in range(1, steps + 1):
        time = number * seconds
        monitor.observe(Message("r", number, 1, usage=Usage(90, 10), model=model, time=time))
        decision = monitor.observe(Call("r", str(number), "read", {"n": number}, number, time=time))
        decisions = [decision]
        if decision.level is Level.BLOCK:
            decisions.append(monitor.observe(Result("r", str(number), decision.text, "blocked")))
        elif decision.level is not Level.STOP:
            decisions.append(monitor.observe(Result("r", str(number), f"text {number}", time=time)))
        found += [(one.level.label, one.message, one.call) for each in decisions for one in each.findings]
        if decision.level is Level.STOP:
            break
    return found


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        ({"calls": 10}, [("nudge", 8, 8), ("block", 11, 11), ("stop", 21, 21)]),
        ({"tokens": 1_000}, [("nudge", 8, 8), ("block", 10, 10), ("stop", 11, 11)]),
        ({"money": 10.0, "price": cents}, [("nudge", 8, 8), ("block", 10, 10), ("stop", 11, 11)]),
        ({"minutes": 10}, [("nudge", 9, 9), ("block", 11, 11), ("stop", 12, 12)]),
        ({"calls": 1_000, "tokens": 500}, [("nudge", 4, 4), ("block", 5, 5), ("stop", 6, 6)]),
    ],
    ids=["calls", "tokens", "money", "minutes", "the nearest"],
)
def test_each_limit_climbs_the_ladder(limits, expected):
    """At 80 percent the model is told, at 100 no call runs any more, at 110 the run ends; of several limits the nearest counts."""
    assert spend(Budget(**limits), 40) == expected


def test_all_of_the_calls_may_be_made():
    """A limit of ten lets the tenth call run, after which the model is told, and blocks the eleventh."""
    assert spend(Budget(Ladder(block=100), calls=10), 12) == [("nudge", 10, 10), ("block", 11, 11)]


@pytest.mark.parametrize("name", PRESETS)
def test_no_preset_has_it(name):
    """It is off unless it is added; settings add it, with rungs in percent."""
    assert "budget" not in [detector.pattern for detector in preset(name).detectors]
    strongest = preset(name).policy.strongest.label
    added = Options(preset=name, detectors={"budget": Budget(Ladder(nudge=50), calls=4)}, strongest=strongest).rules()
    assert added.detectors[-1].pattern == "budget"


@pytest.mark.parametrize("name", PRESETS)
def test_beside_any_preset_each_rung_is_reported_once(name):
    """Also where a preset forgets what it has reported, a budget is pointed out once."""
    rules = Options(preset=name, detectors={"budget": Budget(calls=4)}).rules()
    monitor, found = Monitor(rules), []
    for number in range(1, 10):
        monitor.observe(Message("r", number, 1))
        found += monitor.observe(Call("r", str(number), "read", {"n": number}, number)).findings
        found += monitor.observe(Result("r", str(number), f"text {number}")).findings
    levels = [one.level.label for one in found if one.pattern == "budget"]
    assert levels == ["nudge", "block", "stop"][: rules.policy.strongest - Level.CONTINUE - 1]


def test_a_run_of_several_turns_has_one_budget():
    """What was spent in earlier turns stays spent."""
    monitor, level = Monitor(Rules((Budget(calls=4),), Policy())), Level.CONTINUE
    for number in range(1, 6):
        monitor.observe(User("r", "More."))
        level = monitor.observe(Call("r", str(number), "read", {"n": number})).level
        monitor.observe(Result("r", str(number), "text"))
    assert level is Level.BLOCK


def test_what_harness_and_transport_send_costs_no_call():
    """Calls that the model did not make are not counted."""
    monitor = Monitor(Rules((Budget(calls=2),), Policy()))
    for number, origin in enumerate(("model", "harness", "retry", "retry", "model")):
        assert monitor.observe(Call("r", str(number), "read", {"n": number}, origin=origin)).level is Level.CONTINUE
        monitor.observe(Result("r", str(number), "text"))


def fails(model: str | None, usage: Usage) -> float:
    raise KeyError(model)


@pytest.mark.parametrize(("price", "model"), [(cents, "unknown"), (fails, "known")])
def test_a_price_that_is_missing_breaks_nothing(price, model):
    """A response without a price is left out and counted as such."""
    assert spend(Budget(money=1.0, price=price), 20, model=model) == []
    monitor = Monitor(Rules((Budget(money=1.0, price=price),), Policy()))
    monitor.observe(Message("r", 1, 0, usage=Usage(1, 1), model=model))
    assert monitor.ledger.spent is not None
    assert (monitor.ledger.spent.money, monitor.ledger.spent.unpriced) == (0.0, 1)


@pytest.mark.parametrize(
    ("settings", "field"),
    [
        ({}, "budget"),
        ({"calls": 0}, "budget.calls"),
        ({"calls": 2.5}, "budget.calls"),
        ({"tokens": True}, "budget.tokens"),
        ({"minutes": float("nan")}, "budget.minutes"),
        ({"minutes": -1}, "budget.minutes"),
        ({"money": 1.0}, "budget.price"),
        ({"calls": 3, "price": cents}, "budget.price"),
    ],
    ids=str,
)
def test_limits_that_cannot_work_are_refused(settings: dict[str, Any], field: str):
    """No limit, one that is no positive number, and money without a price are refused by name."""
    with pytest.raises(SettingsError) as caught:
        Budget(**settings)
    assert caught.value.field == field


def test_it_goes_on_from_saved_state():
    """Saved and taken up again, a budget knows what was spent."""
    rules = Rules((Budget(tokens=300, minutes=5, money=9.0, price=cents),), Policy())
    whole, resumed = Monitor(rules), Monitor(rules)
    for number in range(1, 8):
        events = [
            Message("r", number, 1, usage=Usage(40, 10), model="known", time=number * 10.0),
            Call("r", str(number), "read", {"n": number}, number, time=number * 10.0),
            Result("r", str(number), "text", time=number * 10.0 + 1),
        ]
        for event in events:
            resumed = Monitor.load(resumed.dump(), rules)
            assert whole.observe(event) == resumed.observe(event)
    assert whole.ledger.spent is not None
    assert resumed.ledger.spent is not None
    assert whole.ledger.spent.dump() == resumed.ledger.spent.dump()
