"""
The names of `praisonaiagents.agent.loop_detection` (1.7.17), so that this module can stand in its place.

It needs no PraisonAI. `docs/compat/praisonai.md` says what is as published and what is not.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, TypedDict

from unstuck.errors import SettingsError
from unstuck.fingerprint import hexed, value_digest

Level = Literal["warning", "critical"]
DETECTORS = ("generic_repeat", "poll_no_progress", "ping_pong")
POLL_WORDS = ("status", "poll", "check", "wait", "ping", "health")
"""A tool whose name holds one of these, anywhere, counts as one that polls."""
HISTORY_SIZE = 30


@dataclass
class LoopDetectionConfig:
    """
    Thresholds of the detection.

    Args:
        enabled: whether anything is detected (default false).
        history_size: calls that are looked back on (default 30; the default grows where a threshold needs more).
        warn_threshold: equal calls at which the verdict is `warning` (default 10).
        critical_threshold: equal calls at which it is `critical` (default 20); not above the former, it becomes one more.
        detectors: which of `generic_repeat`, `poll_no_progress` and `ping_pong` are on (default: all); one that is not named is on.

    Raises `SettingsError`, a `ValueError`, for counts below 1 and for detectors that do not exist.
    """

    enabled: bool = False
    history_size: int = HISTORY_SIZE
    warn_threshold: int = 10
    critical_threshold: int = 20
    detectors: dict[str, bool] = field(default_factory=lambda: dict.fromkeys(DETECTORS, True))

    def __post_init__(self) -> None:
        for name in ("history_size", "warn_threshold", "critical_threshold"):
            value = getattr(self, name)
            if type(value) is not int or value < 1:
                raise SettingsError(
                    name, value, "a whole number from 1 on is needed", "give one, or enabled=False to switch off"
                )
        for name in self.detectors or ():
            if name not in DETECTORS:
                raise SettingsError(f"detectors.{name}", name, "there is no such detector", f"use {', '.join(DETECTORS)}")
        if self.critical_threshold <= self.warn_threshold:
            self.critical_threshold = self.warn_threshold + 1
        self._history: list[ToolCallRecord] = []


class ToolCallRecord(TypedDict, total=False):
    """One call in a history; `result_hash` is `None` until its result is there."""

    tool_name: str
    args_hash: str
    result_hash: str | None
    timestamp: float


History: TypeAlias = list[ToolCallRecord] | None
"""The calls of an agent, oldest first; `None`, which an agent has whose config was set before its first call: the config keeps them."""


class LoopDetectionResult(TypedDict, total=False):
    """A verdict; only `stuck` where nothing was found."""

    stuck: bool
    level: Level | None
    detector: str | None
    message: str | None
    count: int


def hash_tool_call(tool_name: str, args: Any) -> str:
    """The identity of a call as 16 hexadecimal digits; the order of keys makes no difference, JSON text is not its object."""
    return hexed(value_digest({"t": tool_name, "a": args}))


def record_tool_call(history: History, tool_name: str, args: Any, config: LoopDetectionConfig | None = None) -> None:
    """Put a call at the end of *history* and cut that to size, oldest first."""
    calls = _calls(history, config)
    made = ToolCallRecord(
        tool_name=tool_name, args_hash=hash_tool_call(tool_name, args), result_hash=None, timestamp=time.time()
    )
    calls.append(made)
    size = HISTORY_SIZE if config is None else config.history_size
    if size == HISTORY_SIZE and config is not None:
        size = max(size, config.critical_threshold + 1)
    del calls[: max(0, len(calls) - size)]


def record_tool_outcome(
    history: History, tool_name: str, args: Any, result: Any, config: LoopDetectionConfig | None = None
) -> None:
    """Note the result of the latest such call that has none; what a block answered in the tool's place is no result."""
    if isinstance(result, dict) and result.get("loop_blocked") is True:
        return
    calls = _calls(history, config)
    key = hash_tool_call(tool_name, args)
    for index in range(len(calls) - 1, -1, -1):
        record = calls[index]
        if _is(record, tool_name, key) and record.get("result_hash") is None:
            calls[index] = ToolCallRecord(**{**record, "result_hash": hexed(value_digest(result))})
            return


def reset_matching_history(history: History, tool_name: str, args: Any) -> int:
    """Forget all records of this very call, as after a person allowed it; returns how many there were."""
    if history is None:
        return 0
    key = hash_tool_call(tool_name, args)
    kept = [record for record in history if not _is(record, tool_name, key)]
    removed = len(history) - len(kept)
    history[:] = kept
    return removed


def detect_tool_loop(
    history: History, tool_name: str, args: Any, config: LoopDetectionConfig | None = None
) -> LoopDetectionResult:
    """
    Say whether the call that is about to run, recorded already or not, continues a loop in *history*.

    Nothing is detected without *config* or where it is not enabled. The first detector in this order decides:
    `poll_no_progress`, `ping_pong`, `generic_repeat`.
    """
    if config is None or not config.enabled:
        return LoopDetectionResult(stuck=False)
    on = config.detectors or {}
    key = hash_tool_call(tool_name, args)
    calls = _calls(history, config)
    polls = any(word in tool_name.lower() for word in POLL_WORDS)
    same = _unchanged(calls, tool_name, key)
    counts = {
        "poll_no_progress": sum(record.get("result_hash") is not None for record in same) if polls else 0,
        "ping_pong": _alternation(calls, key),
        "generic_repeat": 0 if polls else len(same),
    }
    for detector, count in counts.items():
        if on.get(detector, True) and count >= config.warn_threshold:
            level: Level = "critical" if count >= config.critical_threshold else "warning"
            if level == "critical":
                _stand_for_repeat(same)
            message = _MESSAGES[detector, level].format(tool=tool_name, n=count)
            return LoopDetectionResult(stuck=True, level=level, detector=detector, message=message, count=count)
    return LoopDetectionResult(stuck=False)


def _calls(history: History, config: LoopDetectionConfig | None) -> list[ToolCallRecord]:
    if history is not None:
        return history
    return [] if config is None else config._history  # noqa: SLF001 - kept for exactly this


def _is(record: ToolCallRecord, tool_name: str, key: str) -> bool:
    return record.get("tool_name") == tool_name and record.get("args_hash") == key


def _unchanged(history: list[ToolCallRecord], tool_name: str, key: str) -> list[ToolCallRecord]:
    """The records of this call, newest first, back to the first whose result was another."""
    found: list[ToolCallRecord] = []
    result = None
    for record in reversed(history):
        if not _is(record, tool_name, key):
            continue
        seen = record.get("result_hash")
        if seen is not None and result is not None and seen != result:
            break
        result = seen if seen is not None else result
        found.append(record)
    return found


def _stand_for_repeat(same: list[ToolCallRecord]) -> None:
    """Let the call that will not run count as one that came to the result it would have repeated, so that it stays blocked."""
    if same and same[0].get("result_hash") is None:
        same[0]["result_hash"] = next((seen for record in same if (seen := record.get("result_hash")) is not None), None)


def _alternation(history: list[ToolCallRecord], key: str) -> int:
    """How many calls at the end, the present one included, were two different ones in turn."""
    keys = [record["args_hash"] for record in history]
    if keys[-1:] != [key]:
        keys.append(key)
    if len(keys) < 2 or keys[-1] == keys[-2]:
        return 0
    length = 2
    while length < len(keys) and keys[-1 - length] == keys[1 - length]:
        length += 1
    return length if length > 2 else 0


_MESSAGES: dict[tuple[str, Level], str] = {
    ("poll_no_progress", "critical"): (
        "CRITICAL: '{tool}' called {n} times with identical args and identical result. "
        "Detected stuck polling loop. Stop and report failure."
    ),
    ("poll_no_progress", "warning"): (
        "WARNING: '{tool}' has returned identical results {n} times. "
        "This looks like a stuck poll. Increase wait time or report failure."
    ),
    ("ping_pong", "critical"): (
        "CRITICAL: Ping-pong loop detected ({n} alternating calls). "
        "Agent is oscillating between two tool states. Stop and report failure."
    ),
    (
        "ping_pong",
        "warning",
    ): "WARNING: Alternating tool pattern detected ({n} calls). Stop ping-pong and try a different approach.",
    ("generic_repeat", "critical"): (
        "CRITICAL: '{tool}' called {n} times with identical args. Agent is stuck. Execution blocked."
    ),
    ("generic_repeat", "warning"): (
        "WARNING: '{tool}' called {n} times with identical args. If not making progress, stop and report failure."
    ),
}
"""As published: programs and tests look at them."""
