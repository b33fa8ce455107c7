"""
Other guards, each driven as its host or its own documentation drives it, from events to decisions.

What a framework never shows a guard is not shown here either: calls that the transport sends again, results of calls that were
refused or blocked. What a host makes anew for each run of its agent is made anew at each request of a person. What a guard would have
done is written down, and the recorded run goes on.
"""

from __future__ import annotations

import contextlib
import json
from collections import defaultdict
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from rulesets import Judge, RuleSet, Step, steps
from scoring import Point
from unstuck.events import Event, User
from unstuck.findings import Level
from unstuck.fingerprint import arguments, text_of

Observer = Callable[[Step | None], Level]
"""Shows a guard a call (`step.result` is `None`), a result, or that a person made a request (`None`); returns what it does."""


def args_of(step: Step) -> dict[str, Any]:
    """The arguments as an object, which is what tools are run with."""
    args = arguments(step.asked.args)
    if isinstance(args, dict):
        return args
    return {} if args is None else {"input": args}


def executed(step: Step) -> bool:
    """Whether the call ran."""
    return step.result is not None and step.result.outcome not in ("denied", "blocked")


def driven(make: Callable[[], Observer], *, shared: bool = False) -> Judge:
    """A judge that shows each run to guards of its own from *make*: one for each agent, or one that all of them share."""

    def judge(events: list[Event]) -> list[Point]:
        guards: dict[str, Observer] = defaultdict(make)
        points: list[Point] = []
        for step in steps(events):
            if not isinstance(step, Step):
                if isinstance(step, User) and step.origin == "user":
                    for observe in guards.values():
                        observe(None)
            elif step.asked.origin != "retry":
                level = guards["" if shared else step.asked.agent](step)
                if level > Level.OBSERVE:
                    points.append(step.point(level))
        return points

    return judge


def pydantic_deep() -> Observer:
    """`StuckLoopDetection` with its defaults: its hook comes after each tool that succeeded, a warning is a `ModelRetry`."""
    from pydantic_ai.exceptions import ModelRetry
    from pydantic_ai.messages import ToolCallPart
    from pydantic_ai.tools import ToolDefinition

    make: Any = import_module("pydantic_deep.features.stuck_loop").StuckLoopDetection
    capability = make()

    def observe(step: Step | None) -> Level:
        nonlocal capability
        if step is None:
            capability = make()  # `for_run`
            return Level.CONTINUE
        if step.result is None or step.result.outcome != "ok":
            return Level.CONTINUE
        tool = ToolDefinition(name=step.asked.tool)
        call = ToolCallPart(step.asked.tool, {})
        hook = capability.after_tool_execute(None, call=call, tool_def=tool, args=args_of(step), result=step.result.content)
        try:
            with contextlib.suppress(StopIteration):
                hook.send(None)
        except ModelRetry:
            return Level.NUDGE
        return Level.CONTINUE

    return observe


def praisonai_detection() -> Observer:
    """`loop_detection` as `Agent` sets it up: recorded and asked before each call, with a history that lives as long as the agent."""
    module: Any = import_module("praisonaiagents.agent.loop_detection")
    config = module.LoopDetectionConfig(enabled=True)
    history: list[Any] = []

    def observe(step: Step | None) -> Level:
        if step is None:
            return Level.CONTINUE
        args = args_of(step)
        if step.result is not None:
            module.record_tool_outcome(history, step.asked.tool, args, step.result.content, config)
            return Level.CONTINUE
        module.record_tool_call(history, step.asked.tool, args, config)
        verdict = module.detect_tool_loop(history, step.asked.tool, args, config)
        return {"warning": Level.NUDGE, "critical": Level.BLOCK}.get(verdict.get("level"), Level.CONTINUE)

    return observe


def praisonai_agent() -> Observer:
    """
    `loop_detection` and `loop_guard` together, as `Agent.execute_tool` asks them.

    Before a call the guard may block or halt, while its warnings only go to the log; after it, whatever it says goes to the model.
    """
    module: Any = import_module("praisonaiagents.escalation.loop_guard")
    guard = module.LoopGuard(module.LoopGuardConfig(enabled=True))
    detection = praisonai_detection()

    def observe(step: Step | None) -> Level:
        if step is None:
            guard.reset_turn()
            return Level.CONTINUE
        tool, args = step.asked.tool, args_of(step)
        level = detection(step)
        if step.result is None:
            action = guard.check(tool, args, is_pre_execution=True).action.value
            return max(level, {"block": Level.BLOCK, "halt": Level.STOP}.get(action, Level.CONTINUE))
        if executed(step):
            ok = step.result.outcome == "ok" and step.result.content is not None
            guard.record(tool, args, ok, result=step.result.content)
            if guard.check(tool, args, is_pre_execution=False).action.value != "allow":
                return max(level, Level.NUDGE)
        return level

    return observe


def agent_loop_guard() -> Observer:
    """
    `LoopGuard.check` after each call, with its output, as its documentation does it.

    Its edit distance, in Python, takes seconds for each call; where RapidFuzz is installed, that computes the same number.
    """
    module: Any = import_module("loop_guard")
    with contextlib.suppress(ImportError):
        exact: Any = import_module("rapidfuzz.distance").Levenshtein
        similarity: Any = import_module("loop_guard.similarity")
        similarity.normalized_edit_distance = exact.normalized_distance
    guard = module.LoopGuard()
    levels = {"WARN": Level.NUDGE, "STOP": Level.STOP, "ESCALATE": Level.STOP}

    def observe(step: Step | None) -> Level:
        if step is None or step.result is None or not executed(step):
            return Level.CONTINUE
        decision = guard.check(tool=step.asked.tool, args=args_of(step), output=text_of(step.result.content))
        return levels.get(decision.action.name, Level.CONTINUE)

    return observe


def loopguard_runtime() -> Observer:
    """The callback handler for LangChain with its defaults, one for a whole graph, told of the start, the end or the error of each tool."""
    module: Any = import_module("loopguard.langgraph")
    handler = module.LoopGuardCallbackHandler(interrupt_on_fatal=False)
    levels = {"warn": Level.NUDGE, "replan": Level.NUDGE, "pause": Level.BLOCK, "stop": Level.STOP}

    def observe(step: Step | None) -> Level:
        if step is None:
            return Level.CONTINUE
        if step.result is None:
            handler.on_tool_start({"name": step.asked.tool}, json.dumps(args_of(step), default=str), inputs=args_of(step))
        elif not executed(step):
            return Level.CONTINUE
        elif step.result.outcome == "ok":
            handler.on_tool_end(text_of(step.result.content))
        else:
            handler.on_tool_error(RuntimeError(text_of(step.result.content)))
        return levels.get(handler.monitor.decisions[-1].action.value, Level.CONTINUE)

    return observe


def loop_guardrail() -> Observer:
    """`ToolCallGuardrailController` with hard stops, as in its documentation: asked before each call, told the result after it."""
    module: Any = import_module("loop_guardrail")
    guard = module.ToolCallGuardrailController(module.ToolCallGuardrailConfig(hard_stop_enabled=True))
    levels = {"warn": Level.NUDGE, "block": Level.BLOCK, "halt": Level.STOP}

    def observe(step: Step | None) -> Level:
        if step is None:
            guard.reset_for_turn()
            return Level.CONTINUE
        tool, args = step.asked.tool, args_of(step)
        if step.result is None:
            return levels.get(guard.before_call(tool, args).action, Level.CONTINUE)
        if not executed(step):
            return Level.CONTINUE
        failed = True if step.result.outcome == "error" else None
        return levels.get(guard.after_call(tool, args, text_of(step.result.content), failed).action, Level.CONTINUE)

    return observe


PEERS: tuple[tuple[str, str, Callable[[], Observer], bool], ...] = (
    ("pydantic-deep", "pydantic-deep", pydantic_deep, False),
    ("PraisonAI, loop_detection", "praisonaiagents", praisonai_detection, False),
    ("PraisonAI, both guards", "praisonaiagents", praisonai_agent, False),
    ("agent-loop-guard", "agent-loop-guard", agent_loop_guard, False),
    ("loopguard-runtime", "loopguard-runtime", loopguard_runtime, True),
    ("loop-guardrail", "loop-guardrail", loop_guardrail, False),
)
"""Name in the table, distribution, maker, and whether all agents of a run share one guard."""


def peers() -> list[RuleSet]:
    """Every peer; one that is not installed has no judge."""
    found = []
    for name, distribution, make, shared in PEERS:
        try:
            make()
            found.append(RuleSet(name, version(distribution), driven(make, shared=shared)))
        except (ImportError, PackageNotFoundError) as error:
            found.append(RuleSet(name, f"not installed ({error})", None))
    return found
