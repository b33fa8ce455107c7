"""An agent's `_loop_detector_config`, the documented way to tune PraisonAI's detection, as a rule set."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from unstuck.detectors.cycle import Cycle
from unstuck.detectors.repeated_result import RepeatedResult
from unstuck.detectors.stuck_poll import StuckPoll
from unstuck.ladder import Ladder, check_count

if TYPE_CHECKING:
    from unstuck.detectors.detector import Detector
    from unstuck.presets import Rules

NAMES = {"repeated_result": "generic_repeat", "stuck_poll": "poll_no_progress", "cycle": "ping_pong"}
"""What PraisonAI calls these patterns."""


def tuned(rules: Rules, config: Any) -> Rules:
    """
    *rules* with the detectors, thresholds and history size of a `LoopDetectionConfig`: a warning is a nudge, a critical verdict a block.

    A ping-pong is counted in laps of two calls. Raises `SettingsError` for thresholds that cannot be.
    """
    warn = check_count("warn_threshold", config.warn_threshold, 2)
    critical = max(check_count("critical_threshold", config.critical_threshold, 2), warn + 1)
    calls = Ladder(nudge=warn, block=critical)
    laps = max(2, (warn + 1) // 2)
    detectors: tuple[Detector, ...] = (
        Cycle(Ladder(nudge=laps, block=max(laps + 1, (critical + 1) // 2))),
        RepeatedResult(calls),
        StuckPoll(calls),
    )
    on = config.detectors or {}
    window = min(1024, max(8, check_count("history_size", config.history_size, 1), critical))
    return rules._replace(
        detectors=tuple(one for one in detectors if on.get(NAMES[one.pattern], True)),
        reading=rules.reading._replace(window=window),
    )
