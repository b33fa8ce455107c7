"""
Writes the recorded sessions in `examples/sessions`: the same bytes every time.

They are made up, in the formats of real programs: an agent that reads one file 47 times, one that repairs a test, one that waits
for a deployment, one that goes round in a cycle of three, and a support agent that asks for one order again and again.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "sessions"
BEGINNING = datetime(2026, 11, 2, 9, 0, tzinfo=UTC)
READS = 47


def at(second: float) -> str:
    """The time *second* seconds into a session."""
    return (BEGINNING + timedelta(seconds=second)).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class ClaudeCode:
    """Lines of a Claude Code session; the context, and so the tokens, grow with every response."""

    def __init__(self, session: str, model: str, context: int) -> None:
        self.lines: list[dict[str, Any]] = []
        self._session = session
        self._model = model
        self._context = context
        self._cached = 0
        self._second = 0.0
        self._responses = 0

    def _line(self, kind: str, **fields: Any) -> None:
        self._second += 1.5
        number = len(self.lines) + 1
        parent = None if number == 1 else f"{self._session[:8]}-{number - 1:04}"
        place = {"parentUuid": parent, "isSidechain": False, "cwd": "/srv/shop", "sessionId": self._session, "version": "2.1.0"}
        self.lines.append(
            place | {"type": kind, **fields, "uuid": f"{self._session[:8]}-{number:04}", "timestamp": at(self._second)}
        )

    def user(self, text: str) -> None:
        """A person's request."""
        self._line("user", message={"role": "user", "content": text})

    def act(self, say: str | None, tool: str, arguments: dict[str, Any], result: str, *, failed: bool = False) -> None:
        """A response with one call, and its result."""
        call = f"toolu_{self._session[:4]}_{self._responses + 1:03}"
        blocks = [{"type": "text", "text": say}] if say else []
        self._respond([*blocks, {"type": "tool_use", "id": call, "name": tool, "input": arguments}])
        answer = {"type": "tool_result", "tool_use_id": call, "content": result} | ({"is_error": True} if failed else {})
        self._line("user", message={"role": "user", "content": [answer]})
        self._context += len(result) // 4 + 90

    def say(self, text: str) -> None:
        """A response without a call."""
        self._respond([{"type": "text", "text": text}])

    def _respond(self, blocks: list[dict[str, Any]]) -> None:
        self._responses += 1
        usage = {
            "input_tokens": 4,
            "cache_creation_input_tokens": self._context - self._cached,
            "cache_read_input_tokens": self._cached,
            "output_tokens": 40 + sum(len(json.dumps(block)) for block in blocks) // 4,
        }
        self._cached = self._context
        for block in blocks:
            message = {"id": f"msg_{self._session[:4]}_{self._responses:03}", "type": "message", "role": "assistant"}
            self._line("assistant", message=message | {"model": self._model, "content": [block], "usage": usage})


SETTINGS = "".join(
    f"     {number}\t{line}\n"
    for number, line in enumerate(
        [
            "service: checkout",
            "replicas: 3",
            *(
                f"feature_{name}: {'on' if index % 3 else 'off'}"
                for index, name in enumerate(("cart", "coupons", "gifts", "search"))
            ),
            *(f"region_{index:02}: {{host: shop-{index:02}.example, weight: {index % 5 + 1}}}" for index in range(1, 41)),
            "timeout_seconds: 30",
        ],
        1,
    )
)


def forty_seven_reads() -> Iterator[dict[str, Any]]:
    """An agent is to change one setting and reads the file instead, 47 times."""
    session = ClaudeCode("4747c0de-1111-4222-8333-444455556666", "claude-sonnet-4-5-20250929", context=21_000)
    session.user("Raise the checkout timeout to 60 seconds in config/settings.yaml.")
    session.act("I'll look at the settings first.", "Grep", {"pattern": "timeout", "path": "config"}, "config/settings.yaml")
    for number in range(READS):
        words = "Let me read the file again to be sure of its structure." if number % 4 == 1 else None
        session.act(words, "Read", {"file_path": "/srv/shop/config/settings.yaml"}, SETTINGS)
    session.say("I have reviewed the settings file.")
    yield from session.lines


def test_fix() -> Iterator[dict[str, Any]]:
    """An agent repairs a failing test: the same test command each time, but another answer."""
    session = ClaudeCode("7e57f1c5-1111-4222-8333-444455556666", "claude-sonnet-4-5-20250929", context=19_500)
    tests = {"command": "python -m pytest -q tests/test_prices.py"}
    source = "/srv/shop/prices.py"
    session.user("tests/test_prices.py fails since yesterday. Please repair it.")
    failures = "FAILED tests/test_prices.py::test_{} - assert {}\n{} failed, {} passed in 0.4{}s"
    session.act(
        "I'll run the tests.",
        "Bash",
        tests,
        "Exit code 1\n" + failures.format("rounding", "10.1 == 10.10", 3, 5, 1),
        failed=True,
    )
    session.act(None, "Read", {"file_path": source}, "     1\tdef price(net, rate):\n     2\t    return round(net * rate, 1)\n")
    session.act(
        None,
        "Edit",
        {"file_path": source, "old_string": "rate, 1)", "new_string": "rate, 2)"},
        f"The file {source} has been updated.",
    )
    session.act(None, "Bash", tests, "Exit code 1\n" + failures.format("negative", "-0.0 == 0.0", 1, 7, 3), failed=True)
    session.act(
        None,
        "Edit",
        {"file_path": source, "old_string": "    return", "new_string": "    return 0.0 +"},
        f"The file {source} has been updated.",
    )
    session.act(None, "Bash", tests, "8 passed in 0.39s")
    session.act(
        None, "Bash", {"command": "git diff --stat"}, " prices.py | 2 +-\n 1 file changed, 1 insertion(+), 1 deletion(-)"
    )
    session.say("The tests pass: prices are rounded to two places, and a negative zero becomes zero.")
    yield from session.lines


def deploy_poll() -> Iterator[dict[str, Any]]:
    """An agent waits for a deployment that moves on: the same question, another answer each time."""
    run = "deploy-2026-11-02"
    yield {"type": "run_start", "run": run, "attended": True}
    yield {"type": "user", "run": run, "text": "Deploy build 812 and tell me when it is live."}
    steps = [*(f"rolling out: {done} of 12 instances updated" for done in range(12)), "live: 12 of 12 instances updated"]
    for number, status in enumerate(["accepted: deployment 812 queued", *steps], 1):
        tool, args = ("deploy_start", {"build": 812}) if number == 1 else ("deploy_status", {"deployment": 812})
        second = 0.0 if number == 1 else 45.0 * (number - 1)
        usage = {"input_tokens": 3_000 + 120 * number, "output_tokens": 35, "cache_read_tokens": 2_900}
        yield {
            "type": "message",
            "run": run,
            "message": number,
            "calls": 1,
            "model": "gpt-5-mini",
            "usage": usage,
            "time": second,
        }
        yield {"type": "call", "run": run, "message": number, "id": f"c{number}", "tool": tool, "args": args, "time": second}
        yield {"type": "result", "run": run, "id": f"c{number}", "content": status, "time": second + 1}
    yield {
        "type": "message",
        "run": run,
        "message": len(steps) + 2,
        "calls": 0,
        "text": "Build 812 is live on all 12 instances.",
    }
    yield {"type": "run_end", "run": run, "outcome": "completed"}


def cycle_of_three() -> Iterator[dict[str, Any]]:
    """An agent without a network goes round: test, install, look at the manifest, test, install, ..."""
    laps = [
        ("npm test", 1, "Error: Cannot find module 'left-trim'\nRequire stack:\n- /srv/site/src/text.js\n"),
        ("npm install left-trim", 1, "npm error code ENOTFOUND\nnpm error network request to registry failed\n"),
        ("cat package.json", 0, '{\n  "name": "site",\n  "dependencies": {\n    "left-trim": "^1.2.0"\n  }\n}\n'),
    ]
    second = 0.0
    total = {"input_tokens": 0, "cached_input_tokens": 0, "output_tokens": 0, "reasoning_output_tokens": 0, "total_tokens": 0}

    def line(kind: str, payload: dict[str, Any]) -> dict[str, Any]:
        nonlocal second
        second += 0.8
        return {"timestamp": at(second), "type": kind, "payload": payload}

    meta = {"id": "01a2c3c3-1111-7222-8333-444455556666", "timestamp": at(0), "cwd": "/srv/site", "originator": "codex_exec"}
    yield line("session_meta", meta | {"cli_version": "0.170.0"})
    yield line("turn_context", {"cwd": "/srv/site", "model": "gpt-5-codex", "approval_policy": "never"})
    request = "Make npm test pass."
    yield line("response_item", {"type": "message", "role": "user", "content": [{"type": "input_text", "text": request}]})
    yield line("event_msg", {"type": "user_message", "message": request})
    for number in range(7 * len(laps)):
        command, code, text = laps[number % len(laps)]
        call = f"call_{number + 1:03}"
        arguments = json.dumps({"cmd": command, "workdir": "/srv/site"})
        yield line("response_item", {"type": "function_call", "name": "exec_command", "arguments": arguments, "call_id": call})
        last = {"input_tokens": 6_200 + 160 * number, "cached_input_tokens": 6_000 + 160 * number, "output_tokens": 48}
        last |= {"reasoning_output_tokens": 0, "total_tokens": last["input_tokens"] + 48}
        total = {name: total[name] + last[name] for name in total}
        yield line("event_msg", {"type": "token_count", "info": {"last_token_usage": last, "total_token_usage": total}})
        output = (
            f"Chunk ID: {number + 0xA1:06x}\nWall time: 0.{number:04} seconds\nProcess exited with code {code}\nOutput:\n{text}"
        )
        yield line("response_item", {"type": "function_call_output", "call_id": call, "output": output})


def support_chat() -> list[dict[str, Any]]:
    """Two tasks of a support agent: one that asks for the same order again and again, one that goes well."""

    def ask(number: int, tool: str, arguments: dict[str, Any], answer: str) -> list[dict[str, Any]]:
        call = {"id": f"call_{number}", "type": "function", "function": {"name": tool, "arguments": json.dumps(arguments)}}
        usage = {"prompt_tokens": 900 + 140 * number, "completion_tokens": 22}
        return [
            {"role": "assistant", "content": None, "tool_calls": [call], "usage": usage},
            {"role": "tool", "tool_call_id": call["id"], "content": answer},
        ]

    system = {"role": "system", "content": "You help customers of a shop with their orders."}
    missing = '{"error": "no order with this number"}'
    stuck = [system, {"role": "user", "content": "Where is my order 88-1204?"}]
    for number in range(1, 10):
        stuck += ask(number, "get_order", {"order": "88-1204"}, missing)
    stuck.append({"role": "assistant", "content": "I am still looking for your order."})
    fine = [system, {"role": "user", "content": "Please cancel order 77-0031."}]
    fine += ask(1, "get_order", {"order": "77-0031"}, '{"order": "77-0031", "state": "packed"}')
    fine += ask(2, "cancel_order", {"order": "77-0031"}, '{"order": "77-0031", "state": "cancelled"}')
    fine.append({"role": "assistant", "content": "Your order 77-0031 is cancelled."})
    return [
        {"task_id": "support-1", "model": "gpt-4o", "messages": stuck},
        {"task_id": "support-2", "model": "gpt-4o", "messages": fine},
    ]


def write(name: str, lines: Iterable[dict[str, Any]]) -> None:
    """A file of JSON lines."""
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (FOLDER / name).write_text(text, "utf-8", newline="\n")


def main() -> None:
    """Write all sessions."""
    FOLDER.mkdir(exist_ok=True)
    write("claude-code-47-reads.jsonl", forty_seven_reads())
    write("claude-code-test-fix.jsonl", test_fix())
    write("codex-cycle-of-three.jsonl", cycle_of_three())
    write("events-deploy-poll.jsonl", deploy_poll())
    (FOLDER / "openai-messages-support.json").write_text(json.dumps(support_chat(), indent=1) + "\n", "utf-8", newline="\n")


if __name__ == "__main__":
    main()
