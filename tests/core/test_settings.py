"""Options: what is refused and how it is said, what wins over what, what switches things off."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.core.settings import level_at, refused, same_call
from unstuck.config import Options
from unstuck.detectors.budget import Budget
from unstuck.detectors.cycle import Cycle
from unstuck.detectors.empty_answers import EmptyAnswers
from unstuck.detectors.praisonai_rules import CallsInSpan, PingPong
from unstuck.detectors.pydantic_deep_rules import TwoCallsInTurn
from unstuck.detectors.recovered_ground import RecoveredGround
from unstuck.detectors.repeated_result import RepeatedResult
from unstuck.detectors.stalled import Stalled
from unstuck.detectors.windowed import HIGHEST_SPAN, WindowedAlternation, WindowedCall, WindowedResult
from unstuck.findings import Level
from unstuck.ladder import Ladder
from unstuck.policy import Policy
from unstuck.presets import PRESETS, preset

NO_NUMBERS = [False, True, 0, 1, -1, -3, 2.0, 2.5, float("nan"), "3", "", [], {}, b"3"]
BELOW_TWO = (0, 1, -1, -3)


@pytest.mark.parametrize("value", NO_NUMBERS, ids=repr)
@pytest.mark.parametrize("rung", ["nudge", "block", "stop"])
def test_a_rung_is_a_whole_number_of_at_least_two(rung: str, value: Any):
    """Neither booleans nor zero nor text nor fractions; the way out names `None` for off."""
    assert "None" in refused(lambda: Ladder(**{rung: value}), rung, value).way_out
    change = {"repeated_result": {"nudge": None, "block": None, "stop": None, rung: value}}
    assert "None" in refused(lambda: Options(detectors=change), f"detectors.repeated_result.{rung}", value).way_out


@pytest.mark.parametrize(
    ("rungs", "field"),
    [
        ({"nudge": 5, "block": 5}, "block"),
        ({"nudge": 5, "block": 3}, "block"),
        ({"nudge": 5, "stop": 5}, "stop"),
        ({"block": 5, "stop": 4}, "stop"),
        ({"nudge": 2, "block": 9, "stop": 9}, "stop"),
        ({"nudge": 9, "block": None, "stop": 3}, "stop"),
        ({}, "ladder"),
        ({"nudge": None, "block": None, "stop": None}, "ladder"),
    ],
    ids=repr,
)
def test_a_rung_that_a_later_one_overtakes_is_refused(rungs: dict[str, int | None], field: str):
    """Each rung lies above the one before; a ladder without rungs is no ladder."""
    refused(lambda: Ladder(**rungs), field)


@pytest.mark.parametrize(
    "rungs", [(2, None, None), (None, 2, None), (None, None, 2), (2, 3, 4), (2, None, 3), (10**6, 10**7, None)]
)
def test_any_rungs_in_order_make_a_ladder(rungs: tuple[int | None, ...]):
    """`None` leaves a rung out, wherever it stands."""
    ladder = Ladder(*rungs)
    assert tuple(ladder) == rungs
    assert ladder.level(ladder.first - 1) == Level.CONTINUE
    assert ladder.level(10**8) == max(level for level, rung in zip((2, 3, 4), rungs, strict=True) if rung is not None)


@pytest.mark.parametrize(
    ("settings", "field"),
    [
        ({"preset": "defualt"}, "preset"),
        ({"preset": None}, "preset"),
        ({"preset": ["default"]}, "preset"),
        ({"shadow": 1}, "shadow"),
        ({"shadow": "true"}, "shadow"),
        ({"shadow": None}, "shadow"),
        ({"strongest": "observe"}, "strongest"),
        ({"strongest": "continue"}, "strongest"),
        ({"strongest": None}, "strongest"),
        ({"strongest": Level.STOP}, "strongest"),
        ({"strongest": ["stop"]}, "strongest"),
        *(({"ceiling": value}, "ceiling") for value in (None, 9, 1_001, 0, -1, True, False, 100.0, "100")),
        *(({"window": value}, "window") for value in (None, 7, 1_025, 0, -8, True, 64.0, "64")),
        *(({"approved_repeats": value}, "approved_repeats") for value in (None, 0, -1, 1_001, True, 3.0, "3")),
        ({"exempt": "think"}, "exempt"),
        ({"exempt": None}, "exempt"),
        ({"exempt": [""]}, "exempt"),
        ({"exempt": [1]}, "exempt"),
        ({"exempt": ["to*do"]}, "exempt"),
        ({"exempt": ["*_get"]}, "exempt"),
        ({"identity": ["search"]}, "identity"),
        ({"identity": {"search": "query"}}, "identity.search"),
        ({"identity": {"search": [1]}}, "identity.search"),
        ({"identity": {"search*": ["query"]}}, "identity.search*"),
        ({"identity": {"": ["query"]}}, "identity"),
        ({"kinds": {"ask": "reads"}}, "kinds.ask"),
        ({"kinds": {"ask": None}}, "kinds.ask"),
        ({"kinds": {"ask": ["read"]}}, "kinds.ask"),
        ({"kinds": {"a*k": "read"}}, "kinds.a*k"),
        ({"kinds": "read"}, "kinds"),
        ({"words": {"reads": ["peek"]}}, "words.reads"),
        ({"words": {"read": "peek"}}, "words.read"),
        ({"words": {"read": [None]}}, "words.read"),
        ({"words": ["peek"]}, "words"),
        ({"detectors": None}, "detectors"),
        ({"detectors": ["cycle"]}, "detectors"),
        ({"detectors": {"cycles": None}}, "detectors.cycles"),
        ({"detectors": {"alternating_calls": {"nudge": 3}}}, "detectors.alternating_calls"),
        ({"detectors": {"cycle": False}}, "detectors.cycle"),
        ({"detectors": {"cycle": True}}, "detectors.cycle"),
        ({"detectors": {"cycle": 0}}, "detectors.cycle"),
        ({"detectors": {"cycle": 3}}, "detectors.cycle"),
        ({"detectors": {"cycle": "off"}}, "detectors.cycle"),
        ({"detectors": {"cycle": [3, 4, 6]}}, "detectors.cycle"),
        ({"detectors": {"cycle": {"nudges": 3}}}, "detectors.cycle"),
        ({"detectors": {"cycle": Cycle}}, "detectors.cycle"),
        ({"detectors": {"cycle": RepeatedResult()}}, "detectors.cycle"),
        ({"detectors": {"mine": RepeatedResult()}}, "detectors.mine"),
        ({"detectors": {"cycle": {"nudge": 4}}}, "detectors.cycle.block"),
        ({"detectors": {"cycle": {"stop": 4}}}, "detectors.cycle.stop"),
        ({"detectors": {"cycle": {"nudge": None, "block": None, "stop": None}}}, "detectors.cycle"),
        ({"detectors": {"empty_answers": {"block": 12}}}, "detectors.empty_answers.block"),
        ({"detectors": {"monologue": Ladder(nudge=4, block=5)}}, "detectors.monologue.block"),
        ({"detectors": {"oscillation": {"block": 4}}}, "detectors.oscillation.block"),
        ({"detectors": {"stalled": {"stop": 9}}}, "detectors.stalled.stop"),
        ({"detectors": {"recovered_ground": {"stop": 33}}}, "detectors.recovered_ground.stop"),
        ({"preset": "pydantic-ai-harness", "detectors": {"repeated_call": {"nudge": 11}}}, "detectors.repeated_call.span"),
        (
            {"preset": "pydantic-ai-harness", "detectors": {"alternating_calls": {"nudge": 6}}},
            "detectors.alternating_calls.span",
        ),
        ({"preset": "praisonai", "detectors": {"stuck_poll": {"block": 31}}}, "detectors.stuck_poll.span"),
        ({"preset": "pydantic-deep", "detectors": {"alternating_calls": {"nudge": 33}}}, "detectors.alternating_calls.span"),
        ({"plugins": ["nobody_wrote_this"]}, "plugins"),
        ({"plugins": "cycle"}, "plugins"),
        ({"wording": "You loop."}, "wording"),
        ({"wording": 3}, "wording"),
        ({"celing": 50}, "celing"),
        ({"max_loops": 3}, "max_loops"),
    ],
    ids=repr,
)
def test_what_cannot_be_or_could_never_act_is_refused(settings: dict[str, Any], field: str):
    """By the option's own name, with what was given and what to write instead."""
    given = settings.get(field, ...)
    refused(lambda: Options(**settings), field, given)


@pytest.mark.parametrize("name", ["ceiling", "window", "approved_repeats"])
@pytest.mark.parametrize("value", [None, 0, "off"])
def test_no_way_out_offers_none_where_none_is_refused(name: str, value: Any):
    """The ceiling, the window and the bound of approvals cannot be off, so nobody is told to switch them off."""
    assert "None" not in refused(lambda: Options(**{name: value}), name).way_out


@pytest.mark.parametrize(
    ("make", "field"),
    [
        (lambda: Policy(shadow=1), "policy.shadow"),
        (lambda: Policy(one_per_round=None), "policy.one_per_round"),
        (lambda: Policy(consume="no"), "policy.consume"),
        (lambda: Policy(strongest=Level.OBSERVE), "policy.strongest"),
        (lambda: Policy(strongest=Level.CONTINUE), "policy.strongest"),
        (lambda: Policy(strongest=4), "policy.strongest"),
        (lambda: Policy(strongest="stop"), "policy.strongest"),
        (lambda: Policy(ceiling=9), "policy.ceiling"),
        (lambda: Policy(ceiling=1_001), "policy.ceiling"),
        (lambda: Policy(ceiling=None), "policy.ceiling"),
        (lambda: RepeatedResult((3, 5, 8)), "repeated_result.ladder"),
        (lambda: RepeatedResult(3), "repeated_result.ladder"),
        (lambda: EmptyAnswers(Ladder(block=8)), "empty_answers.block"),
        (lambda: EmptyAnswers().with_ladder(Ladder(nudge=3, block=8)), "empty_answers.block"),
        (lambda: Stalled(Ladder(stop=3)), "stalled.stop"),
        (lambda: RecoveredGround(Ladder(nudge=33)), "recovered_ground.nudge"),
        (lambda: WindowedCall(span=4), "repeated_call.span"),
        (lambda: WindowedCall(Ladder(nudge=11)), "repeated_call.span"),
        (lambda: WindowedCall(Ladder(nudge=3, stop=11)), "repeated_call.span"),
        (lambda: WindowedCall().with_ladder(Ladder(nudge=11)), "repeated_call.span"),
        (lambda: WindowedResult(span=True), "repeated_result.span"),
        (lambda: WindowedResult(span=1), "repeated_result.span"),
        (lambda: WindowedResult(span=10.0), "repeated_result.span"),
        (lambda: WindowedResult(span=HIGHEST_SPAN + 1), "repeated_result.span"),
        (lambda: WindowedCall(Ladder(nudge=3, block=5)), "repeated_call.block"),
        (lambda: WindowedAlternation(span=5), "alternating_calls.span"),
        (lambda: TwoCallsInTurn(span=5), "alternating_calls.span"),
        (lambda: CallsInSpan(span=19), "repeated_call.span"),
        (lambda: PingPong(Ladder(nudge=10, block=31)), "alternating_calls.span"),
        (Budget, "budget"),
        (lambda: Budget(calls=0), "budget.calls"),
        (lambda: Budget(calls=2.5), "budget.calls"),
        (lambda: Budget(tokens=True), "budget.tokens"),
        (lambda: Budget(minutes=float("nan")), "budget.minutes"),
        (lambda: Budget(money=1.0), "budget.price"),
    ],
)
def test_values_refuse_the_same_when_they_are_made_by_hand(make: Callable[[], Any], field: str):
    """Policies and detectors check themselves, also when a ladder is exchanged later."""
    refused(make, field)


def test_what_lies_just_within_the_bounds_is_taken():
    """The bounds belong to what is allowed."""
    rules = Options(ceiling=10, window=8, approved_repeats=1, exempt=["*"], kinds={"a*": "read"}).rules()
    assert (rules.policy.ceiling, rules.reading.window, rules.reading.approved_repeats) == (10, 8, 1)
    rules = Options(ceiling=1_000, window=1_024, approved_repeats=1_000).rules()
    assert (rules.policy.ceiling, rules.reading.window, rules.reading.approved_repeats) == (1_000, 1_024, 1_000)
    assert WindowedCall(Ladder(nudge=10)).span == 10
    assert RecoveredGround(Ladder(nudge=5, stop=32)).ladder.stop == 32


@pytest.mark.parametrize(
    ("change", "level"),
    [
        ({}, Level.STOP),
        ({"repeated_result": None}, Level.CONTINUE),
        ({"repeated_result": {"stop": None}}, Level.BLOCK),
        ({"repeated_result": {"stop": None, "block": None}}, Level.NUDGE),
        ({"repeated_result": {"nudge": None, "block": None}}, Level.STOP),
        ({"repeated_result": {"nudge": 21, "block": 22, "stop": 23}}, Level.CONTINUE),
        ({"repeated_result": Ladder(block=4)}, Level.BLOCK),
        ({"repeated_result": RepeatedResult(Ladder(nudge=20))}, Level.NUDGE),
    ],
    ids=repr,
)
def test_none_switches_a_detector_or_a_rung_off(change: dict[str, Any], level: Level):
    """And a ladder, a detector or some rungs change it; what is not named stays."""
    assert level_at(Options(detectors=change), same_call(20)) == level


@pytest.mark.parametrize("name", sorted(PRESETS))
def test_every_detector_can_be_switched_off(name: str):
    """One by one, and all of them: what is left is what was there without it."""
    patterns = [detector.pattern for detector in preset(name).detectors]
    for pattern in patterns:
        left = Options(preset=name, detectors={pattern: None}).rules().detectors
        assert [detector.pattern for detector in left] == [other for other in patterns if other != pattern]
    assert Options(preset=name, detectors=dict.fromkeys(patterns)).rules().detectors == ()
    assert level_at(Options(preset=name, detectors=dict.fromkeys(patterns)), same_call(30)) == Level.CONTINUE


@pytest.mark.parametrize("strongest", ["nudge", "block", "stop"])
@pytest.mark.parametrize("name", sorted(PRESETS))
def test_strongest_caps_every_preset(name: str, strongest: str):
    """No decision goes beyond it, and no preset refuses it."""
    rules = Options(preset=name, strongest=strongest).rules()
    assert rules.policy.strongest == Level.named(strongest)
    assert Level.NUDGE <= level_at(Options(preset=name, strongest=strongest), same_call(40)) <= Level.named(strongest)
