"""What holds for every run."""

from __future__ import annotations

import json
import string
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.runs import bare, decisions, events_of, scripts
from unstuck.config import Options
from unstuck.events import Call, Event, Message, Result, RunEnd, RunStart, User
from unstuck.findings import Level
from unstuck.fingerprint import call_fingerprint
from unstuck.monitor import Monitor
from unstuck.presets import PRESETS, preset
from unstuck.volatile import mask

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.parametrize("name", sorted(PRESETS))
@given(script=scripts)
def test_replaying_any_prefix_equals_the_live_run(name: str, script: list[Any]):
    """The decisions on the first n events are the same whether or not more follow, and the same every time."""
    events = events_of(script, odd=True)
    whole = decisions(events, name)
    for cut in {len(events) // 3, len(events) // 2, len(events)}:
        assert decisions(events[:cut], name) == whole[:cut]


@pytest.mark.parametrize("name", sorted(PRESETS))
@given(script=scripts, every=st.integers(1, 5), attended=st.booleans())
def test_saving_and_loading_anywhere_changes_nothing(name: str, script: list[Any], every: int, attended: bool):
    """A monitor that passes through JSON after every few events decides as one that lives on, and its state is the same."""
    events = events_of(script, attended=attended, odd=True)
    live, saved = Monitor(preset(name)), Monitor(preset(name))
    for index, event in enumerate(events):
        assert bare(saved.observe(event)) == bare(live.observe(event)), event
        if index % every == 0:
            text = saved.dump()
            saved = Monitor.load(text, preset(name))
            assert saved.dump() == text


@given(args=st.dictionaries(st.text(), json_values, max_size=6), data=st.data())
def test_the_order_of_arguments_and_their_spelling_as_json_make_no_difference(args: dict[str, Any], data: st.DataObject):
    """An object, the same object in another order, and either as JSON text are one call."""
    shuffled = dict(data.draw(st.permutations(list(args.items()))))
    same = {
        call_fingerprint("tool", args),
        call_fingerprint("tool", shuffled),
        call_fingerprint("tool", json.dumps(shuffled)),
        call_fingerprint("tool", json.dumps(args, ensure_ascii=False, indent=2)),
    }
    assert len(same) == 1


def size_of(monitor: Monitor) -> int:
    """The size of everything a monitor keeps."""
    return len(monitor.dump())


@pytest.mark.parametrize("name", sorted(PRESETS))
def test_state_is_bounded_by_the_window_for_any_run(name: str):
    """Ten times as many events, all different, in many agents and rounds, leave no more behind."""
    sizes = []
    for length in (3_000, 30_000):
        monitor = Monitor(preset(name))
        monitor.observe(RunStart("r", attended=False))
        for number in range(length):
            agent = f"agent-{number % 50}"
            content = {"row": number, "text": "x" * (number % 300)}
            monitor.observe(Message("r", number, 1, agent, text=f"step {number} of many"))
            args = {"path": f"f{number}", "query": "y" * (number % 200)}
            monitor.observe(Call("r", f"c{number}", f"tool_{number % 90}", args, number, agent))
            if number % 3:
                monitor.observe(Result("r", f"c{number}", content, "error" if number % 7 == 0 else "ok"))
        sizes.append(size_of(monitor))
    assert sizes[1] < 1.15 * sizes[0]


@given(script=scripts, length=st.integers(9, 30))
def test_decisions_never_weaken_while_a_loop_goes_on(script: list[Any], length: int):
    """Whatever came before, the decisions before the calls of one unbroken loop only rise."""
    monitor = Monitor()
    for event in events_of(script)[:-1]:
        monitor.observe(event)
    levels = []
    for number in range(length):
        monitor.observe(Message("r", 1000 + number, 1))
        levels.append(monitor.observe(Call("r", "loop", "look_up", {"path": "never changes"}, 1000 + number)).level)
        monitor.observe(Result("r", "loop", "the very same text"))
    assert levels == sorted(levels)
    assert levels[-1] == Level.STOP


@given(script=scripts)
def test_a_persons_turn_re_arms(script: list[Any]):
    """After a person speaks, a run is judged as if it began there; ordinals and loop numbers go on."""

    def shape(found: list[Any]) -> list[Any]:
        return [(d.level, [(f.pattern, f.repeats, f.level) for f in d.findings]) for d in found]

    events = events_of(script)[1:]
    monitor = Monitor()
    for event in events_of([("repeat", [("read_file", {"path": "a.py"}, "ok", "ok", "main", "model", False)], 6)])[:-1]:
        monitor.observe(event)
    monitor.observe(User("r", "Now something else."))
    after = [monitor.observe(event) for event in events]
    assert shape(after) == shape(decisions(events))


@given(script=scripts, every=st.integers(1, 3))
def test_an_exempt_tool_changes_nothing_for_others(script: list[Any], every: int):
    """Calls of an exempt tool between the others leave every finding about the others as it was."""
    rules = Options(exempt=["ticker*"]).rules()
    events = events_of(script)
    mixed: list[Event] = []
    for index, event in enumerate(events):
        mixed.append(event)
        if index % every == 0 and isinstance(event, Result):
            mixed += [Call("r", "exempt", "ticker_now", {"n": 1}), Result("r", "exempt", "tick")]

    def shape(found: list[Any]) -> list[Any]:
        return [(f.pattern, f.repeats, f.level, f.tools, f.fingerprints) for d in found for f in d.findings]

    plain = [event for event in mixed if getattr(event, "id", "") != "exempt"]
    assert shape(decisions(mixed, rules)) == shape(decisions(plain, rules))


@settings(max_examples=30)
@given(others=st.integers(0, 40), ceiling=st.integers(10, 60), exempt=st.booleans(), volatile=st.booleans())
def test_the_ceiling_is_always_reached_in_unattended_runs(others: int, ceiling: int, exempt: bool, volatile: bool):
    """So many identical exchanges stop the run, whatever stands between them, exempt or not, and the detectors switched off."""
    off = {detector.pattern: None for detector in preset("default").detectors}
    rules = Options(ceiling=ceiling, exempt=["poll"] if exempt else [], detectors=off).rules()
    monitor = Monitor(rules)
    monitor.observe(RunStart("r", attended=False))
    stops = []
    for number in range(ceiling):
        for other in range(others):
            monitor.observe(Call("r", "o", "write_file", {"path": f"{number}-{other}"}))
            monitor.observe(Result("r", "o", f"wrote {number} {other}"))
        monitor.observe(Call("r", "c", "poll", {"job": 1}))
        decision = monitor.observe(Result("r", "c", f"pending (took {number} ms)" if volatile else "pending"))
        stops.append(decision.level == Level.STOP)
    assert stops == [False] * (ceiling - 1) + [True]


@given(script=scripts, at=st.floats(0, 1))
def test_a_persons_turn_never_makes_a_finding_earlier(script: list[Any], at: float):
    """Speaking in between only ever delays the first intervention."""
    events = [event for event in events_of(script) if not isinstance(event, User)]
    # Between two responses: nobody is heard in the middle of one.
    places = [index for index, event in enumerate(events) if isinstance(event, (Message, RunEnd))]
    place = places[int(at * (len(places) - 1))]
    interrupted = [*events[:place], User("r", "And?"), *events[place:]]

    def first(found: list[Any]) -> int:
        return next((index for index, d in enumerate(found) if d.level >= Level.NUDGE), 10**6)

    spoken = first(decisions(interrupted))
    assert spoken - (spoken > place) >= min(first(decisions(events)), 10**6 - 1)


@given(text=st.text(alphabet=string.printable, max_size=200) | st.text(max_size=60))
def test_masking_is_idempotent(text: str):
    """A masked text has nothing left to mask."""
    assert mask(mask(text)) == mask(text)


clocks = st.tuples(st.integers(0, 23), st.integers(0, 59)).map(lambda t: f"{t[0]:02}:{t[1]:02}")
volatile = st.one_of(
    clocks,
    st.uuids().map(str),
    st.integers(1_600_000_000, 1_900_000_000).map(str),
    st.floats(0.01, 9_000, allow_nan=False).map(lambda x: f"took {x:.2f} ms"),
    st.integers(1, 99_999).map(lambda n: f"pid: {n}"),
    st.integers(0x100000, 0x7FFFFFFFFFFF).map(hex),
    st.integers(1, 99).map(lambda n: f"attempt {n}"),
    st.dates().map(str),
)


@given(parts=st.lists(volatile, max_size=12))
def test_masking_volatile_tokens_side_by_side_is_idempotent(parts: list[str]):
    """Neither do tokens that stand close together show anew once their neighbour is gone."""
    for joined in (" ".join(parts), ",".join(parts), "/".join(parts), "".join(parts)):
        assert mask(mask(joined)) == mask(joined)


@given(script=scripts)
def test_renaming_tools_with_their_kinds_held_changes_nothing(script: list[Any]):
    """Names are no evidence once it is known what the tools are."""
    from tests.core.runs import TOOLS

    kinds = {tool: Monitor().rules.reading.kinds.of(tool) for tool in TOOLS if tool != "bash"}
    names = {tool: f"zz{index}" for index, tool in enumerate(kinds)}
    same = Options(kinds=kinds).rules()
    renamed = Options(kinds={names[tool]: kind for tool, kind in kinds.items()}).rules()
    events = [event for event in events_of(script) if not (isinstance(event, Call) and event.tool == "bash")]
    # An answer that names the tool is about its name.
    events = [
        event._replace(content="gone") if isinstance(event, Result) and "mystery" in str(event.content) else event
        for event in events
    ]
    others = [event._replace(tool=names[event.tool]) if isinstance(event, Call) else event for event in events]

    def shape(found: list[Any]) -> list[Any]:
        return [(d.level, sorted((f.pattern, f.repeats, f.level) for f in d.findings)) for d in found]

    assert shape(decisions(events, same)) == shape(decisions(others, renamed))


@given(script=scripts)
def test_permuting_the_calls_of_a_round_changes_nothing(script: list[Any]):
    """Parallel calls are a set: in which order they stand in the response decides nothing."""

    def rounds(order: Any) -> list[Any]:
        return [(step[0], order(list(step[1])), *step[2:]) if step[0] in ("round", "repeat") else step for step in script]

    def clean(calls: list[Any]) -> list[Any]:
        # What one response asks for twice has one answer.
        unique = {call_fingerprint(call[0], call[1]): (*call[:4], "main", "model", False) for call in calls}
        return list(unique.values())

    plain = rounds(clean)
    turned = rounds(lambda calls: clean(calls)[::-1])

    def shape(found: list[Any]) -> list[Any]:
        return sorted((f.level, f.message) for d in found for f in d.findings)

    assert shape(decisions(events_of(plain))) == shape(decisions(events_of(turned)))


words = st.text(alphabet=string.ascii_lowercase, min_size=4, max_size=9)


@settings(max_examples=60)
@given(seed=st.integers(0, 10**9), length=st.integers(5, 60))
def test_a_run_in_which_everything_is_new_is_left_alone(seed: int, length: int):
    """Where every call and every outcome was never seen, there is at most a word about a stall."""
    import random

    rng = random.Random(seed)
    letters = string.ascii_lowercase

    def word() -> str:
        return "".join(rng.choice(letters) for _ in range(rng.randrange(5, 10)))

    monitor = Monitor()
    for number in range(length):
        tool = rng.choice(["read_file", "search", "bash", "edit_file", "fetch"])
        args = {"path": f"{word()}/{word()}.py", "text": " ".join(word() for _ in range(6))}
        monitor.observe(Message("r", number, 1))
        before = monitor.observe(Call("r", "c", tool, args, number))
        after = monitor.observe(Result("r", "c", " ".join(word() for _ in range(rng.randrange(3, 30)))))
        for decision in (before, after):
            assert all(finding.pattern == "stalled" for finding in decision.findings)
