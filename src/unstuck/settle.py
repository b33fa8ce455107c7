"""How one finished exchange moves the counters of its call, of its tool and of its agent."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from unstuck.aims import apart_from_question, take_aim
from unstuck.chains import TERSE, is_spelling_of
from unstuck.failures import (
    failure_class,
    is_final,
    is_transient,
    names_unknown_tool,
    reports_failure,
    telling_line,
)
from unstuck.fingerprint import text_digest
from unstuck.ground import Changes, cover_ground, covers_again
from unstuck.patience import PAUSED, SLOW, goes_on, is_patient
from unstuck.records import answer_words
from unstuck.redelegated import settle_task
from unstuck.sketch import share_known, sketch, words_of
from unstuck.states import CallState, Once, Pending, ToolState
from unstuck.trail import Trail
from unstuck.unrecorded import UNSEEN, holds_picture, is_unrecorded, is_unseen
from unstuck.volatile import mask, template


class World(Changes, Protocol):
    """What is changed, and whether work was done."""

    def worked_since(self, pending: Pending) -> bool:
        """Whether somebody worked since a conversation was handed over in this way."""


NUMBERS_APART = 0.5
"""The share of words from which on two calls are alike that may differ in their numbers."""
STALE = 0.8
"""The share of known words from which on a differing answer says nothing new."""


class Answer(NamedTuple):
    """What a call came to: the digest, the text, the outcome, when it came, and in which of its agent's rounds."""

    raw: int
    text: str
    outcome: str
    time: float | None
    round: int


def settle_call(world: World, trail: Trail, pending: Pending, answer: Answer) -> CallState:
    """Count the exchange for its call: how often in a row it came to this outcome since the world changed."""
    raw, text, _, time, round_ = answer
    key, state = pending.key, trail.known(pending.key)
    if pending.kind == "step" and answer.outcome == "ok":
        trail.stepped = round_
    if state is None:
        return _first_time(world, trail, pending, answer)
    again = state.news = False
    if pending.approved:
        if not state.again(raw, text):
            _restart(world, state, pending)
            state.same = state.lift = 0
    elif state.epoch != world.epoch:
        before = state.text
        state.news = not state.again(raw, text) and says_other(before, text)
        _restart(world, state, pending)
    elif state.round != round_:
        _repeat(world, trail, state, pending, answer)
        again = state.same > 1
    elif raw != state.raw and not state.again(raw, text):
        _restart(world, state, pending)
        state.same = 0  # one response, one call, two answers: neither is what the call comes to
    del trail.calls[key]
    trail.calls[key] = state  # the one used last stands last
    if not again:
        trail.new_round = round_
        if trail.redundant:
            trail.redundant = []
    elif trail.new_round != round_:
        cover_ground(trail, pending)
    state.round, state.last, state.time = round_, pending.call, time
    state.whole, state.stirred = pending.whole, world.stirred
    if pending.kind == "step":
        state.terse = len(text) <= TERSE
    return state


def _first_time(world: World, trail: Trail, pending: Pending, answer: Answer) -> CallState:
    raw, text, _, time, round_ = answer
    key, tool, kind = pending.key, pending.tool, pending.kind
    made = (key, tool, kind, pending.call, raw, text, round_, world.epoch, world.stirred, pending.whole, world.compaction, time)
    if kind == "step" and answer.outcome == "ok" and len(text) > TERSE:
        before = trail.tools.get(tool)
        if before is None or before.raw != raw:
            trail.paged = round_
    trail.note(Once(*made), covers_again(world, trail, pending, answer.outcome, text))
    if trail.new_round != round_:
        trail.inside = cover_ground(trail, pending)
    state = trail.known(key)
    assert state is not None
    if kind == "step":
        state.terse = len(text) <= TERSE
    elif kind == "delegate":
        state.receipt = True
    if pending.approved:
        state.same = 0  # a person has seen it
    return state


def _restart(world: World, state: CallState, pending: Pending) -> None:
    state.first, state.epoch, state.compaction = pending.call, world.epoch, world.compaction
    state.same, state.asked, state.slow, state.differing, state.blind = 1, 0, 0, 0, 0
    state.numbers, state.runs, state.known, state.excused, state.final = (), (), frozenset(), 0, False


def _repeat(world: World, trail: Trail, state: CallState, pending: Pending, answer: Answer) -> None:
    raw, text = answer.raw, answer.text
    if pending.kind == "delegate" and answer.outcome == "ok" and world.worked_since(pending):
        state.again(raw, text)
        _restart(world, state, pending)
        return
    if state.compaction != world.compaction:
        state.compaction = world.compaction
        if state.fresh_read != world.epoch:
            state.fresh_read = world.epoch
            return
    unseen = is_unseen(pending.kind, pending.tool, pending.value, text)
    if unseen:
        pending.unseen = True
        world.stirred += 1  # whoever saw it may have been told anything
    before = state.text
    if raw != state.raw and not state.again(raw, text):
        state.news = says_other(before, text)
        if pending.whole != state.whole or (pending.kind != "step" and trail.stepped > state.round):
            state.differing = 0  # it was not quite the same that was asked, or not of the same state
        elif pending.slow in (0, PAUSED):
            _differs(state, before, text)
        if not state.differing:
            trail.moved = trail.rounds
        state.first, state.same, state.asked, state.slow, state.lift = pending.call, 1, 0, 0, 0
        state.blind, state.excused, state.final = 0, 0, False
        return
    if goes_on(trail, state):
        return
    if (pending.slow or pending.kind == "wait") and is_final(text):
        state.final, pending.slow = True, 0  # what is over does not move however long one waits
    if pending.slow:
        state.slow += 1
        if state.slow % pending.slow:
            return
    if answer.outcome in ("error", "retry") and _waited(state, pending) and is_transient(text):
        return
    if unseen:
        state.blind += 1
        if state.stirred != world.stirred - 1 or state.blind % (UNSEEN // 2 if pending.kind == "step" else UNSEEN):
            return
    state.same += 1
    if state.stirred != world.stirred or is_patient(pending):
        state.excused += 1  # something new was done in between, and it is not known what it changed; or time passed


def says_other(before: str | None, text: str) -> bool:
    """Whether two answers differ in more than their numbers."""
    return before is None or template(mask(before)) != template(mask(text))


def _waited(state: CallState, pending: Pending) -> bool:
    """Whether the call was put off for longer than the time before, or for a minute and more."""
    if pending.time is None or state.time is None:
        return False
    gap, before = pending.time - state.time, state.gap
    state.gap = gap
    return gap >= SLOW or (before is not None and gap > before)


def _differs(state: CallState, before: str | None, text: str) -> None:
    """
    The same call came to another outcome: note whether its numbers advance and whether its words are new.

    Of what moves something on any new word is the next page; a bare number that rises is one too.
    """
    if not (state.known or state.numbers) and before is not None:
        state.note(mask(before))
    masked = mask(text)
    step = state.kind == "step"
    known_share = share_known(answer_words(masked, step), state.known)
    advancing = state.note(masked)
    shape = template(masked)
    # A bare number that rises may be a clock; one that falls, or a percentage, counts something down or up to its end.
    bare = not step and "%" not in shape and not words_of(shape) and not any(run <= -2 for run in state.runs)
    stale = known_share >= (1.0 if step else STALE) and (bare or not advancing)
    if not state.differing:
        state.varied = state.last
    state.differing = state.differing + 1 if stale and not (holds_picture(text) or is_unrecorded(text)) else 0


def settle_tool(world: World, trail: Trail, pending: Pending, answer: Answer) -> ToolState:
    """Count the exchange for its tool: alike calls with one outcome, failures of one class, echoes."""
    raw, text, outcome, _, round_ = answer
    tool = trail.tools.get(pending.tool)
    if tool is None:
        tool = trail.new_tool(pending.tool)
    if outcome == "error" or outcome == "retry":
        _failed(world, trail, tool, pending, text, round_)
    else:
        tool.ok_round = trail.ok_round = round_
        if tool.failed:
            tool.failed, tool.failed_asked, tool.unknown = 0, 0, False
        if trail.failed:
            trail.failed = 0
    tool.kind = pending.kind
    if pending.kind == "write":
        _mistake(tool, pending, text, outcome, round_)
    key, args = pending.key, tool.args
    if tool.chain_round == round_ and tool.key != key:
        # Different calls of one tool in one response are a batch: no chain goes through it, in whatever order they stand.
        tool.chain, tool.chain_keys, tool.echo, tool.args = 0, (), 0, None
        return tool
    if pending.kind == "delegate":
        settle_task(world, tool, pending, text, round_)
        return tool
    if tool.key != key:
        may_echo = pending.kind in _MAY_ECHO or pending.is_shell
        changed = args is not None and outcome == "ok" and raw != tool.raw
        if may_echo and changed and 0 < len(text) <= 200 and pending.may_hold(text):
            _echo(tool, pending, text, round_)
        else:
            tool.echo = 0
    if args is None or (raw != tool.raw and not _may_be_same(tool.text, text)):
        tool.raw, tool.text, tool.masked = raw, text, None
        _begin(world, tool, pending, round_)
    else:
        _chain(world, tool, pending, answer)
    return tool


_MAY_ECHO = frozenset(("shell", "other", "wait"))


_UNKNOWN = text_digest("there is no such tool")


def _mistake(tool: ToolState, pending: Pending, text: str, outcome: str, round_: int) -> None:
    """Note that something that changes the world was refused, by reason and target; once a round."""
    if (outcome == "ok" and not reports_failure(text)) or is_transient(text):
        return  # what passes by itself is no refusal
    what = failure_class(text, pending) ^ pending.aims_at()
    _, count, first, _, seen = next((mistake for mistake in tool.mistakes if mistake[0] == what), (what, 0, pending.call, 0, 0))
    others = tuple(mistake for mistake in tool.mistakes if mistake[0] != what)
    tool.mistakes = (*others[-15:], (what, count + (seen != round_), first, pending.call, round_))
    tool.mistake_round = round_


def _echo(tool: ToolState, pending: Pending, text: str, round_: int) -> None:
    """A result that holds nothing but words of the arguments, from a call that differs from the one before in numbers only."""
    pending.settle()
    if share_known(sketch(words_of(text)), pending.everything or frozenset()) < 1.0 or not tool.is_alike(
        pending, NUMBERS_APART
    ):
        tool.echo = 0
    elif tool.echo == 0:
        tool.echo, tool.echo_first, tool.echo_round = 1, pending.call, round_
    elif tool.echo_round != round_:
        tool.echo, tool.echo_round = tool.echo + 1, round_


def _begin(world: World, tool: ToolState, pending: Pending, round_: int) -> None:
    """A chain begins with this call."""
    if tool.chain != 1:
        tool.chain, tool.chain_asked, tool.loose = 1, 0, False
    tool.chain_first, tool.chain_keys, tool.chain_round, tool.epoch = pending.call, (pending.key,), round_, world.epoch
    tool.args, tool.key = pending, pending.key


def _chain(world: World, tool: ToolState, pending: Pending, answer: Answer) -> None:
    """A chain: calls of one tool that are alike, not equal, and come to one outcome; a change of the world ends it."""
    raw, text, outcome, _, round_ = answer
    key = pending.key
    if (
        (raw == tool.raw or tool.again(raw, apart_from_question(text, pending.value)))
        and tool.epoch == world.epoch
        and is_spelling_of(tool, pending, text, outcome)
    ):
        tool.chain += tool.chain_round != round_
        if key not in tool.chain_keys:
            tool.chain_keys = (*tool.chain_keys[-15:], key)
        tool.chain_round, tool.args, tool.key = round_, pending, key
    else:
        _begin(world, tool, pending, round_)


def _may_be_same(old: str | None, new: str) -> bool:
    return old is None or (old[:6] == new[:6] and abs(len(old) - len(new)) <= 256)


def _failed(world: World, trail: Trail, tool: ToolState, pending: Pending, text: str, round_: int) -> None:
    unknown = names_unknown_tool(text) and not pending.is_shell
    failure = _UNKNOWN if unknown else failure_class(text, pending)
    if tool.failed_epoch != world.epoch:
        tool.failed = 0
    again = tool.failed_round == round_
    waited = not again and _is_patience(tool, pending, text)
    _streak(tool, failure, pending.call, round_, waited)
    take_aim(tool, pending.aims(), round_, tool.stirred != world.stirred)
    # Of several failures in one round it is enough that one says so, in whatever order they stand.
    tool.unknown = (again and tool.unknown) or unknown
    tool.error, tool.transient = telling_line(text), (again and tool.transient) or is_transient(text)
    tool.failed_epoch, tool.failure_time = world.epoch, pending.time
    if trail.failed_round != round_ or trail.failed == 0:
        trail.failed_tools = trail.failed_tools if trail.failed and trail.failure == failure else []
    _streak(trail, failure, pending.call, round_, False)
    take_aim(trail, pending.aims(), round_, trail.stirred != world.stirred)
    tool.stirred = trail.stirred = world.stirred
    if pending.tool not in trail.failed_tools:
        trail.failed_tools = sorted([*trail.failed_tools[-7:], pending.tool])


def _streak(owner: ToolState | Trail, failure: int, call: int, round_: int, waited: bool) -> None:
    """
    Failures of one class in a row, counted in rounds and whatever the order in a round: a round in which the owner also succeeded
    ends the streak, one that also failed otherwise goes on with it.
    """
    if owner.ok_round == round_:
        return
    if owner.failed_round != round_:
        owner.failed_before, owner.failed_classes = (owner.failed, owner.failure, owner.failed_first), ()
    owner.failed_round = round_
    owner.failed_classes = tuple(sorted({*owner.failed_classes, failure}))[:16]
    count, before, first = owner.failed_before
    if count and before in owner.failed_classes:
        owner.failed, owner.failure, owner.failed_first = count + (not waited), before, first
    else:
        owner.failed, owner.failure = 1, owner.failed_classes[0]
        owner.failed_first = min(call, owner.failed_first) if len(owner.failed_classes) > 1 else call
        if isinstance(owner, ToolState):
            owner.failed_asked = 0


def _is_patience(tool: ToolState, pending: Pending, text: str) -> bool:
    """Whether a passing error was waited for longer than the one before, or for a minute and more."""
    if not is_transient(text) or pending.time is None or tool.failure_time is None:
        return False
    gap, before = pending.time - tool.failure_time, tool.gap
    tool.gap = gap
    return gap >= SLOW or (before is not None and gap > before)
