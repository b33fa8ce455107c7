"""PraisonAI agents for tests, whose model is a scripted server on loopback."""

from __future__ import annotations

import contextlib
import gc
import json
import os
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from threading import Thread
from typing import Any

import pytest

os.environ.update(
    OPENAI_API_KEY="sk-none", PRAISONAI_TELEMETRY_DISABLED="true", DO_NOT_TRACK="1", PRAISONAI_AUTO_APPROVE="true"
)

from praisonaiagents import Agent, ExecutionConfig
from praisonaiagents.agent.loop_detection import LoopDetectionConfig
from praisonaiagents.escalation.loop_guard import LoopGuard as OwnGuard
from praisonaiagents.escalation.loop_guard import LoopGuardConfig as OwnGuardConfig

from unstuck.errors import LoopStopped
from unstuck.testing_adapters.world import (
    DONE,
    INPUT_TOKENS,
    OUTPUT_TOKENS,
    TEXT,
    Answered,
    Ask,
    Asked,
    Item,
    Said,
    Scenario,
    World,
    chat_calls,
)

QUIET = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),  # the clients of agents that are gone
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
"""Marks for a module that runs PraisonAI."""

WORLDS: dict[str, World] = {}
NUMBERS = count(1)


class Handler(BaseHTTPRequestHandler):
    """Answers chat completions for the world that the system message names."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *args: Any) -> None:
        pass

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        messages = body["messages"]
        world = next(WORLDS[word] for word in str(messages[0]["content"]).split() if word in WORLDS)
        calls = world.turn(item for message in messages[1:] for item in items_of(message))
        said: dict[str, Any] = {"role": "assistant", "content": TEXT if calls else DONE}
        if calls:
            said["tool_calls"] = chat_calls(calls)
        self.answer(body, said)

    def answer(self, body: Any, said: dict[str, Any]) -> None:
        end = "tool_calls" if "tool_calls" in said else "stop"
        base = {"id": "x", "created": 1, "model": body["model"]}
        usage = {
            "prompt_tokens": INPUT_TOKENS,
            "completion_tokens": OUTPUT_TOKENS,
            "total_tokens": INPUT_TOKENS + OUTPUT_TOKENS,
        }
        if body.get("stream"):
            chunks = [{"delta": said, "finish_reason": None, "index": 0}, {"delta": {}, "finish_reason": end, "index": 0}]
            lines = [json.dumps({**base, "object": "chat.completion.chunk", "choices": [one]}) for one in chunks]
            data = "".join(f"data: {line}\n\n" for line in [*lines, "[DONE]"]).encode()
        else:
            choice = {"index": 0, "message": said, "finish_reason": end}
            data = json.dumps({**base, "object": "chat.completion", "choices": [choice], "usage": usage}).encode()
        self.send_response(200)
        self.send_header("content-type", "text/event-stream" if body.get("stream") else "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def items_of(message: Any) -> list[Item]:
    """A message of a request in the terms of the suite."""
    if message["role"] == "tool":
        return [Answered(message["tool_call_id"], str(message["content"]))]
    said = [Said(message["role"], str(message["content"]))] if message.get("content") else []
    return [*said, *(Asked(call["id"]) for call in message.get("tool_calls") or ())]


@pytest.fixture(autouse=True, scope="module")
def model_server() -> Iterator[None]:
    """The scripted model, for as long as a test module runs."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}/v1"
    before = {name: os.environ.get(name) for name in ("OPENAI_BASE_URL", "OPENAI_API_BASE")}
    os.environ.update(OPENAI_BASE_URL=url, OPENAI_API_BASE=url)
    yield
    server.shutdown()
    gc.collect()  # clients whose event loops are gone complain now, where that is expected
    for name, value in before.items():
        os.environ.pop(name) if value is None else os.environ.update({name: value})


def agent_of(world: World, guard: Any = None, name: str = "assistant", tools: Any = (), **options: Any) -> Agent:
    """An agent of PraisonAI with the tools and the script of *world*, under *guard*."""
    number = f"world-{next(NUMBERS)}"
    WORLDS[number] = world
    options = {"output": "silent", "execution": ExecutionConfig(max_iter=100), **options}
    agent = Agent(name=name, instructions=number, model="gpt-4o-mini", tools=[*world.tools(), *tools], **options)
    if guard is not None:
        return guard.attach(agent)
    agent._loop_guard = OwnGuard(OwnGuardConfig(enabled=False))  # PraisonAI's own would end the run
    agent._loop_detector_config = LoopDetectionConfig(enabled=False)
    return agent


READ = Ask("read_file", {"path": "a"})
LOOK = Ask("job_status", {"job": "7"})


def script(*turns: Any, answer: Any = lambda ask, nth: "same") -> World:
    """A world whose model makes these calls, one a response; `None` ends a chat turn."""
    return World(Scenario(tuple(() if ask is None else (ask,) for ask in turns), answer))


def tool_results(world: World) -> list[str]:
    """What the model read of its calls, over the whole run."""
    return [item.text for item in world.requests[-1] if isinstance(item, Answered)]


def executions(world: World, guard: Any, **options: Any) -> int:
    """How often a tool ran in one chat, whatever became of it."""
    before = len(world.executed)
    with contextlib.suppress(LoopStopped):
        agent_of(world, guard, **options).chat("Go.")
    return len(world.executed) - before


def levels(guard: Any) -> list[tuple[str, int | None]]:
    """The level and the call of each finding."""
    return [(finding.level.label, finding.call) for finding in guard.findings]
