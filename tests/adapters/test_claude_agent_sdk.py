"""The adapter for the Claude Agent SDK: the real SDK and its CLI, in front of a scripted Messages API on the loopback."""

from __future__ import annotations

import json
import os
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest

pytest.importorskip("claude_agent_sdk", reason="the Claude Agent SDK is not installed")

from claude_agent_sdk import AgentDefinition, ClaudeAgentOptions, ResultMessage, create_sdk_mcp_server, query, tool

from unstuck.testing_adapters.suite import AdapterSuite
from unstuck.testing_adapters.world import DONE, INPUT_TOKENS, OUTPUT_TOKENS, TEXT, Answered, Asked, Item, Said, World

PREFIX = "mcp__script__"


class Api(BaseHTTPRequestHandler):
    """A Messages API that follows the script of a world; requests without the script's tools are titles and the like."""

    protocol_version = "HTTP/1.1"
    world: World
    inner: World | None = None

    def log_message(self, *args):
        pass

    def do_HEAD(self):
        self.answer(b"")

    def do_GET(self):
        self.answer(b"{}")

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if not self.path.split("?")[0].endswith("/v1/messages"):
            self.answer(json.dumps({"input_tokens": 5}).encode())
            return
        scripted = any(given.get("name", "").startswith("mcp__") for given in body.get("tools", ()))
        blocks = self.blocks(body) if scripted else [{"type": "text", "text": "ok"}]
        stop = "tool_use" if any(block["type"] == "tool_use" for block in blocks) else "end_turn"
        if body.get("stream"):
            self.answer(stream(body["model"], blocks, stop), "text/event-stream")
        else:
            self.answer(json.dumps({**message(body["model"]), "content": blocks, "stop_reason": stop}).encode())

    def blocks(self, body):
        inside = "You are the reviewer." in json.dumps(body.get("system"))
        world = self.inner if inside and self.inner else self.world
        calls = world.turn(item for said in body["messages"] for item in items(said))
        if calls and calls[0][1].tool == "ask_reviewer":
            name = next(given["name"] for given in body["tools"] if given["name"] in ("Agent", "Task"))
            asks = {"subagent_type": "reviewer", "description": "look", "prompt": "Look.", "run_in_background": False}
            return [{"type": "tool_use", "id": calls[0][0], "name": name, "input": asks}]
        prefix = PREFIX if world is self.world else "mcp__inner__"
        asked = [{"type": "tool_use", "id": id, "name": prefix + ask.tool, "input": dict(ask.args)} for id, ask in calls]
        return [{"type": "text", "text": TEXT if calls else DONE}, *asked]

    def answer(self, content, kind="application/json"):
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


def message(model: str) -> dict[str, Any]:
    usage = {"input_tokens": INPUT_TOKENS, "output_tokens": OUTPUT_TOKENS}
    usage |= {"cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
    id = f"msg_{os.urandom(8).hex()}"
    return {
        "id": id,
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [],
        "stop_reason": None,
        "usage": usage,
    }


def stream(model: str, blocks: list[Any], stop: str) -> bytes:
    events: list[tuple[str, Any]] = [("message_start", {"message": message(model)})]
    for number, block in enumerate(blocks):
        text = block["type"] == "text"
        empty = {**block, "text": ""} if text else {**block, "input": {}}
        delta = {"type": "text_delta", "text": block["text"]} if text else None
        delta = delta or {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        events.append(("content_block_start", {"index": number, "content_block": empty}))
        events.append(("content_block_delta", {"index": number, "delta": delta}))
        events.append(("content_block_stop", {"index": number}))
    events.append(("message_delta", {"delta": {"stop_reason": stop}, "usage": {"output_tokens": OUTPUT_TOKENS}}))
    events.append(("message_stop", {}))
    return b"".join(f"event: {kind}\ndata: {json.dumps({'type': kind, **data})}\n\n".encode() for kind, data in events)


def items(said: Any) -> list[Item]:
    if isinstance(said["content"], str):
        return [Said(said["role"], said["content"])]
    found: list[Item] = []
    for block in said["content"]:
        if block["type"] == "tool_use":
            found.append(Asked(block["id"]))
        elif block["type"] == "tool_result":
            found.append(Answered(block["tool_use_id"], json.dumps(block["content"])))
        elif block["type"] == "text":
            found.append(Said(said["role"], "(the folder)" if "# Environment" in block["text"] else block["text"]))
    return found


@contextmanager
def served(world: World, inner: World | None = None) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Scripted", (Api,), {"world": world, "inner": inner}))
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def sdk_tool(function: Any) -> Any:
    names = {name: str for name in function.__annotations__ if name != "return"}

    @tool(function.__name__, function.__doc__, names)
    async def run(args: Any) -> Any:
        return {"content": [{"type": "text", "text": function(**args)}]}

    return run


def options(world: World, url: str, guard: Any, home: str, **more: Any) -> ClaudeAgentOptions:
    environment = {
        "HOME": home,
        "CLAUDE_CONFIG_DIR": f"{home}/.claude",
        "ANTHROPIC_API_KEY": "none",
        "ANTHROPIC_BASE_URL": url,
        "DISABLE_TELEMETRY": "1",
        "DISABLE_AUTOUPDATER": "1",
        "DISABLE_ERROR_REPORTING": "1",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    }
    return ClaudeAgentOptions(
        hooks=guard.hooks() if guard else None,
        mcp_servers={"script": create_sdk_mcp_server("script", tools=[sdk_tool(function) for function in world.tools()])},
        allowed_tools=[PREFIX + function.__name__ for function in world.tools()],
        setting_sources=[],
        cwd=home,
        env=environment,
        model="claude-sonnet-4-5",
        **{"tools": [], **more},
    )


class TestClaudeAgentSDK(AdapterSuite):
    adapter = "claude_agent_sdk"
    prefix = PREFIX
    gaps: ClassVar = {
        "test_a_call_run_again_counts_once": "nothing runs twice: the CLI makes each call once",
        "test_a_hand_off_is_linked": "the SDK has no hand-off: agents are started by a tool, and are sub-agents",
    }

    async def drive(self, world, guard):
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home, served(world) as url:
            return await self.ask(options(world, url, guard, home), guard)

    async def export(self, world, guard, path):
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home, served(world) as url:
            answer = await self.ask(options(world, url, guard, home), guard)
            (session,) = Path(home).glob(".claude/projects/*/*.jsonl")  # noqa: ASYNC240 - nothing else waits here
            path.write_bytes(session.read_bytes())
            return answer

    async def delegate(self, outer, inner, guard):
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home, served(outer, inner) as url:
            given = options(outer, url, guard, home, tools=["Agent", "Task"])
            given.mcp_servers["inner"] = create_sdk_mcp_server("inner", tools=[sdk_tool(tool) for tool in inner.tools()])
            tools = [f"mcp__inner__{tool.__name__}" for tool in inner.tools()]
            given.agents = {"reviewer": AgentDefinition("Reviews.", "You are the reviewer.", tools=tools)}
            given.allowed_tools += ["Agent", "Task", *tools]
            return await self.ask(given, guard)

    async def ask(self, given, guard):
        messages = query(prompt="Go.", options=given)
        last = None
        async for said in guard.watching(messages) if guard else messages:
            last = said
        assert isinstance(last, ResultMessage)
        return last.result or ""
