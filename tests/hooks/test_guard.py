"""What is judged from one delivery to the next: ids, rounds, ends, agents."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unstuck.errors import StateError
from unstuck.events import Call, Message, Result, User
from unstuck.findings import Level
from unstuck.hooks import llm_content, module_of
from unstuck.hooks.dialect import Delivered
from unstuck.hooks.guard import LONGEST, Guard
from unstuck.hooks.run import answer
from unstuck.presets import preset
from unstuck.store import FILE, Key, Store

RULES = preset("default")


class Talk:
    """One session, saved and loaded between every two deliveries."""

    def __init__(self, agent: str = "main") -> None:
        self.agent = agent
        self.state: str | None = None
        self.memory: str | None = None
        self.now = 0.0

    def deliver(self, event, key=None, call=None):
        guard = Guard(RULES, self.state, self.memory)
        verdict = guard.judge(Delivered("s", self.agent, event, key, "", call))
        self.state, self.memory = guard.monitor.dump(), guard.memory.dump()
        self.guard = guard
        return verdict

    def call(self, args, id="", later=10.0):
        self.now += later
        return self.deliver(Call("s", id, "Bash", args, time=self.now))

    def result(self, args, content, id="", outcome="ok"):
        return self.deliver(Result("s", id, content, outcome, self.now), call=("Bash", args))

    def exchange(self, args, content):
        verdict = self.call(args)
        return verdict if verdict.level >= Level.BLOCK else self.result(args, content)


def test_results_without_ids_find_their_calls():
    """Parallel calls without ids are told apart by their arguments; equal ones are answered in the order they were made."""
    talk = Talk()
    for args in ("a", "b", "a"):
        talk.call({"command": args}, later=0.0)
    for args in ("a", "b", "a"):
        talk.result({"command": args}, f"out {args}")
    assert dict(talk.guard.monitor.ledger.open) == {}
    assert talk.guard.monitor.ledger.skipped == 0


def test_a_result_whose_arguments_were_changed_finds_its_tool():
    """Another hook may have rewritten the arguments: then the oldest open call of that tool is meant."""
    talk = Talk()
    talk.call({"command": "ls"})
    talk.result({"command": "ls -l"}, "a.py")
    assert dict(talk.guard.monitor.ledger.open) == {}


def test_calls_at_the_same_time_are_one_round():
    """Calls that begin while others run belong to one response; one that begins after their results to the next."""
    talk = Talk()
    for number in range(3):
        for args in ("a", "b", "c"):
            talk.call({"command": args}, id=f"{args}{number}", later=0.01)
        for args in ("a", "b", "c"):
            talk.result({"command": args}, "same", id=f"{args}{number}")
    assert talk.guard.monitor.messages == 3


def test_a_call_that_never_ends_does_not_keep_its_round_open():
    """A lost result must not gather all later calls in one response."""
    talk = Talk()
    talk.call({"command": "lost"}, id="lost")
    verdicts = [talk.exchange({"command": "again"}, "same") for _ in range(5)]
    assert [verdict.level.label for verdict in verdicts] == ["continue", "continue", "nudge", "continue", "block"]


def test_a_blocked_call_is_booked_as_blocked():
    """The agent sends nothing about a call that was denied: it has no open result, and asking again leads to the end."""
    talk = Talk()
    levels = [talk.exchange({"command": "x"}, "same").level for _ in range(8)]
    assert levels[-1] is Level.STOP
    assert dict(talk.guard.monitor.ledger.open) == {}
    assert talk.guard.monitor.calls == 8


def test_behind_the_end_everything_is_refused_until_a_person_speaks():
    """Also a call that was never made; a harness message changes nothing."""
    talk = Talk()
    for _ in range(8):
        talk.exchange({"command": "x"}, "same")
    assert talk.call({"command": "new"}).level is Level.STOP
    talk.deliver(User("s", "reminder", "harness"))
    refused = talk.call({"command": "newer"})
    assert refused.level is Level.STOP
    assert "repeated_result: 8 calls of Bash" in refused.text
    talk.deliver(User("s", "go on"))
    assert talk.call({"command": "newest"}).level is Level.CONTINUE


def test_the_same_delivery_counts_once():
    """Two settings files that name the hook deliver every event twice."""
    talk = Talk()
    call = Call("s", "t1", "Bash", {"command": "x"}, time=1.0)
    assert talk.deliver(call, key="PreToolUse t1") is not None
    assert talk.deliver(call, key="PreToolUse t1") is None
    assert talk.guard.monitor.calls == 1


@pytest.mark.parametrize("state", ["", "{", "[]", '{"version": 1}', '{"version": "x"}'])
def test_a_broken_state_is_begun_anew(state):
    """It is said in the log, and counting goes on from nothing."""
    guard = Guard(RULES, state or "x", "{}")
    verdict = guard.judge(Delivered("s", "main", Call("s", "t", "Bash", None, time=1.0), None, ""))
    assert verdict is not None
    assert "begun anew" in (verdict.note or "")
    assert guard.monitor.calls == 1


def test_a_state_of_a_newer_release_is_left_alone():
    """It is another installation's, which goes on with it."""
    with pytest.raises(StateError, match="version 99"):
        Guard(RULES, json.dumps({"version": 99}), "{}")


def test_a_person_speaks_to_all_agents_of_a_session(tmp_path):
    """A sub-agent that was stopped may go on after the next request, though that is delivered to the main agent alone."""
    environ = {"UNSTUCK_HOME": str(tmp_path)}
    base = {"session_id": "s", "tool_name": "Bash", "tool_input": {"command": "x"}, "agent_id": "sub"}

    def deliver(event, number, **more):
        said = {**base, "hook_event_name": event, "tool_use_id": f"t{number}", **more}
        return answer("claude_code", json.dumps(said).encode(), environ, 10.0 * number).output

    for number in range(8):
        if not deliver("PreToolUse", number):
            deliver("PostToolUse", number, tool_response={"stdout": "same", "stderr": ""})
    assert '"continue":false' in deliver("PreToolUse", 8)
    assert deliver("PreToolUse", 9, agent_id="other") == ""
    deliver("UserPromptSubmit", 10, agent_id=None, prompt="Go on.")
    assert deliver("PreToolUse", 11) == ""


def test_nothing_of_arguments_and_results_is_kept(tmp_path):
    """The files hold digests, counts and tools' names, no commands, outputs, errors or texts."""
    environ = {"UNSTUCK_HOME": str(tmp_path)}
    secret = "tangerine"
    base = {"session_id": "s", "cwd": "/p", "tool_name": "Bash", "tool_input": {"command": f"echo {secret}"}}
    for number in range(10):
        for event in ("PreToolUse", "PostToolUseFailure"):
            said = {**base, "hook_event_name": event, "tool_use_id": f"t{number}", "error": f"Error: {secret} is unknown"}
            answer("claude_code", json.dumps(said).encode(), environ, 10.0 * number)
    said = {**base, "hook_event_name": "Stop", "last_assistant_message": f"I give up on {secret}."}
    answer("claude_code", json.dumps(said).encode(), environ, 100.0)
    store = Store(str(tmp_path / FILE))
    with store:
        assert store.load(Key("claude_code", "s", "main")) is not None
    store.close()
    assert [file.name for file in tmp_path.iterdir() if secret.encode() in file.read_bytes()] == []


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(["same", "else", "3 of 9"]), st.booleans()), max_size=40))
def test_a_process_for_each_event_decides_like_one_for_all(steps):
    """Saving and loading between any two deliveries changes no decision."""
    saved, live = Talk(), Guard(RULES)
    now = 0.0
    for args, content, person in steps:
        now += 10.0
        events = [User("s", "go on")] if person else []
        events += [Call("s", "", "Bash", {"command": args}, time=now), Result("s", "", content, "ok", now)]
        for event in events:
            call = ("Bash", {"command": args}) if isinstance(event, Result) else None
            one = saved.deliver(event, call=call)
            other = live.judge(Delivered("s", "main", event, None, "", call))
            assert (one.level, one.findings, one.call) == (other.level, other.findings, other.call)


def test_a_project_sets_its_own_rules(tmp_path):
    """`unstuck.toml` in the project's folder or above it counts; in shadow mode nothing is done and the log says what would have been."""
    project = tmp_path / "project" / "deep"
    project.mkdir(parents=True)
    (tmp_path / "project" / "unstuck.toml").write_text("shadow = true\n", "utf-8")
    environ = {"UNSTUCK_HOME": str(tmp_path / "state"), "CLAUDE_PROJECT_DIR": str(project)}
    base = {"session_id": "s", "cwd": "/", "tool_name": "Bash", "tool_input": {"command": "x"}}
    entries = []
    for number in range(9):
        for event in ("PreToolUse", "PostToolUse"):
            said = {**base, "hook_event_name": event, "tool_use_id": f"t{number}", "tool_response": {"stdout": "same"}}
            done = answer("claude_code", json.dumps(said).encode(), environ, 10.0 * number)
            assert done.output == ""
            entries += done.entries
    assert [(entry["level"], entry["action"], entry["shadow"]) for entry in entries] == [
        ("nudge", None, True),
        ("block", None, True),
        ("stop", None, True),
    ]


@pytest.mark.parametrize("agent", ["gemini_cli", "qwen_code"])
def test_the_frame_of_a_shells_result_is_no_result(agent):
    """The command again, process numbers and an empty error line say nothing about what came back."""
    text = "Command: pytest -q\nDirectory: (root)\nOutput: 1 failed\nError: (none)\nExit Code: 1\nSignal: 0\nProcess Group PGID: 4711"
    event = {"session_id": "s", "hook_event_name": {"gemini_cli": "AfterTool", "qwen_code": "PostToolUse"}[agent]}
    event |= {"tool_name": "run_shell_command", "tool_input": {}, "tool_response": {"llmContent": text}}
    delivered = module_of(agent).read(event, {}, 1.0)
    assert delivered is not None
    assert isinstance(delivered.event, Result)
    assert (delivered.event.content, delivered.event.outcome) == ("Output: 1 failed\nExit Code: 1\n", "error")


HUGE = 50_000_000
SHELL = "Command: make\nDirectory: (root)\nOutput: {}\nError: (none)\nExit Code: {}\nSignal: 0\nProcess Group PGID: 4711"


@pytest.mark.parametrize(("code", "outcome"), [(0, "ok"), (2, "error")])
def test_of_a_shells_huge_result_only_the_ends_are_searched(code, outcome):
    """Of 50 MB the frame is taken off both ends; lines between them that look like it are what the command printed."""
    printed = f"{'x' * HUGE}\nSignal: lost\nExit Code: 9\n{'y' * llm_content.ENDS}\nlast"
    content, found = llm_content.content_and_outcome({"llmContent": SHELL.format(printed, code)})
    assert (content == f"Output: {printed}\nExit Code: {code}\n", found) == (True, outcome)


@pytest.mark.parametrize("printed", ["", "Exit Code: 9", "Exit Code: 9\nline\n", "x" * llm_content.ENDS])
def test_the_exit_code_of_a_shell_is_the_last_one(printed):
    """A command that prints another program's exit code has one of its own, whatever it printed."""
    for code, outcome in ((0, "ok"), (1, "error")):
        assert llm_content.content_and_outcome({"llmContent": SHELL.format(printed, code)})[1] == outcome


def test_a_huge_response_is_looked_at_in_part():
    """The counters hear both ends and the length of 50 MB of text, so that a hook is done in time."""
    heard = []
    guard = Guard(preset("default"))
    observe = guard.monitor.observe
    guard.monitor.observe = lambda event: (heard.append(event), observe(event))[1]
    guard.judge(Delivered("s", "main", Message("s", 0, 0, text="begin" + "word " * (HUGE // 5) + "end"), None, ""))
    guard.judge(Delivered("s", "main", Message("s", 0, 1, text=None), None, ""))
    text = heard[0].text
    assert (text.startswith("begin"), text.endswith("end"), len(text) < 2 * LONGEST) == (True, True, True)
    assert (heard[0].message, heard[1].message, heard[1].text) == (1, 2, None)
