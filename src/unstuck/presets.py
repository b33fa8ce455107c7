"""Named rule sets."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from unstuck.detectors.cycle import Cycle
from unstuck.detectors.degenerate_text import DegenerateText
from unstuck.detectors.delegation_loop import DelegationLoop
from unstuck.detectors.detector import Detector
from unstuck.detectors.echoed_change import EchoedChange
from unstuck.detectors.empty_answers import EmptyAnswers
from unstuck.detectors.empty_response import EmptyResponse
from unstuck.detectors.failure_cascade import FailureCascade
from unstuck.detectors.handoff_loop import HandoffLoop
from unstuck.detectors.monologue import Monologue
from unstuck.detectors.near_repeat import NearRepeat
from unstuck.detectors.oscillation import Oscillation
from unstuck.detectors.praisonai_rules import CallsInSpan, PingPong, SamePollResult
from unstuck.detectors.pydantic_deep_rules import SameCallInARow, SameResultInARow, TwoCallsInTurn
from unstuck.detectors.recovered_ground import RecoveredGround
from unstuck.detectors.recurring_failure import RecurringFailure
from unstuck.detectors.repeated_call import RepeatedCall
from unstuck.detectors.repeated_failure import RepeatedFailure
from unstuck.detectors.repeated_result import RepeatedResult
from unstuck.detectors.repeated_text import RepeatedText
from unstuck.detectors.stalled import Stalled
from unstuck.detectors.stuck_poll import StuckPoll
from unstuck.detectors.unknown_tool import UnknownTool
from unstuck.detectors.windowed import WindowedAlternation, WindowedCall, WindowedResult
from unstuck.errors import SettingsError
from unstuck.findings import Level
from unstuck.ladder import Ladder
from unstuck.panel import Panel
from unstuck.policy import Policy
from unstuck.reading import Reading
from unstuck.wording import Wording


class Rules(NamedTuple):
    """
    Everything a Monitor goes by: the detectors in the order in which they are asked (a `Panel`, where many runs go by them), the
    policy, how events are read, and optionally own words for the model.
    """

    detectors: tuple[Detector, ...]
    policy: Policy = Policy()
    reading: Reading = Reading()
    wording: Wording | None = None
    name: str = "custom"


@cache
def _default() -> Rules:
    detectors = (
        Cycle(),
        RepeatedResult(),
        StuckPoll(),
        UnknownTool(),
        NearRepeat(),
        RepeatedFailure(),
        RecurringFailure(),
        FailureCascade(),
        EchoedChange(),
        RecoveredGround(),
        RepeatedCall(),
        Oscillation(),
        DelegationLoop(),
        HandoffLoop(),
        EmptyAnswers(),
        DegenerateText(),
        RepeatedText(),
        EmptyResponse(),
        Monologue(),
        Stalled(),
    )
    return Rules(Panel(detectors), name="default")


@cache
def _pydantic_ai_harness() -> Rules:
    detectors = (WindowedResult(), WindowedAlternation(), WindowedCall(), RepeatedText(Ladder(nudge=3)))
    policy = Policy(strongest=Level.NUDGE, one_per_round=True, consume=True)
    return Rules(Panel(detectors), policy, name="pydantic-ai-harness")


@cache
def _praisonai() -> Rules:
    detectors = (SamePollResult(), PingPong(), CallsInSpan())
    policy = Policy(strongest=Level.BLOCK, one_per_round=True)
    return Rules(Panel(detectors), policy, Reading(turns=False), name="praisonai")


@cache
def _pydantic_deep() -> Rules:
    detectors = (SameCallInARow(), TwoCallsInTurn(), SameResultInARow())
    policy = Policy(strongest=Level.NUDGE, one_per_round=True)
    return Rules(Panel(detectors), policy, name="pydantic-deep")


PRESETS: dict[str, Callable[[], Rules]] = {
    "default": _default,
    "pydantic-ai-harness": _pydantic_ai_harness,
    "praisonai": _praisonai,
    "pydantic-deep": _pydantic_deep,
}
"""The rule sets by name."""


def preset(name: str) -> Rules:
    """The rule set called *name*; raises `SettingsError` for an unknown name."""
    make = PRESETS.get(name) if isinstance(name, str) else None
    if make is None:
        raise SettingsError("preset", name, "there is no such rule set", f"choose one of {', '.join(sorted(PRESETS))}")
    return make()
