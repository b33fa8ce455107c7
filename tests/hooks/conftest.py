"""Model servers on loopback that follow a script, for coding agents that are run for real."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

Calls = list[tuple[str, dict[str, Any]]]
Script = Callable[[str, int], Calls | str]
"""First request of a conversation and results in it so far -> the calls of the next response, or its text."""


class Model:
    """A server that answers in one provider's way; *requests* holds the bodies of those that asked for a response."""

    def __init__(self, wire: type[Wire], script: Script) -> None:
        self.requests: list[dict[str, Any]] = []
        self.errors: list[str] = []
        lock = threading.Lock()
        model = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_: object) -> None:
                pass

            def do_HEAD(self) -> None:
                self._send("application/json", b"")

            def do_GET(self) -> None:
                self._send("application/json", b'{"object": "list", "data": [], "models": []}')

            def do_POST(self) -> None:
                raw = self.rfile.read(int(self.headers.get("content-length") or 0))
                if self.headers.get("content-encoding") == "zstd":
                    zstandard = pytest.importorskip("zstandard")
                    raw = zstandard.ZstdDecompressor().decompressobj().decompress(raw)
                try:
                    with lock:
                        kind, body = wire(model, script).answer(self.path, json.loads(raw or b"{}"))
                except Exception as error:
                    model.errors.append(f"{self.path}: {error!r}")
                    raise
                self._send(kind, body)

            def _send(self, kind: str, body: bytes) -> None:
                self.send_response(200)
                self.send_header("content-type", kind)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


class Wire:
    """How one provider's requests and responses look."""

    def __init__(self, model: Model, script: Script) -> None:
        self.model = model
        self.script = script

    def answer(self, path: str, body: dict[str, Any]) -> tuple[str, bytes]:
        raise NotImplementedError

    def stream(self, events: list[dict[str, Any]]) -> tuple[str, bytes]:
        named = [(f"event: {event['type']}\n" if "type" in event else "", event) for event in events]
        parts = [f"{name}data: {json.dumps(event)}\n\n" for name, event in named]
        return "text/event-stream", "".join(parts).encode()


class Anthropic(Wire):
    def answer(self, path: str, body: dict[str, Any]) -> tuple[str, bytes]:
        if not path.partition("?")[0].endswith("/v1/messages"):
            return "application/json", b'{"input_tokens": 5}'
        blocks = self._blocks(body)
        self.model.requests.append(body)
        stop = "tool_use" if blocks[-1]["type"] == "tool_use" else "end_turn"
        head = {
            "id": f"msg_{len(self.model.requests)}",
            "type": "message",
            "role": "assistant",
            "model": body["model"],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": {"input_tokens": 5, "output_tokens": 1},
        }
        if not body.get("stream"):
            return "application/json", json.dumps({**head, "content": blocks, "stop_reason": stop}).encode()
        events: list[dict[str, Any]] = [{"type": "message_start", "message": {**head, "content": []}}]
        for index, block in enumerate(blocks):
            events += self._block(index, block)
        end = {"stop_reason": stop, "stop_sequence": None}
        return self.stream(
            [*events, {"type": "message_delta", "delta": end, "usage": {"output_tokens": 3}}, {"type": "message_stop"}]
        )

    def _block(self, index: int, block: dict[str, Any]) -> list[dict[str, Any]]:
        if block["type"] == "text":
            empty, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": block["text"]}
        else:
            empty = {**block, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        return [
            {"type": "content_block_start", "index": index, "content_block": empty},
            {"type": "content_block_delta", "index": index, "delta": delta},
            {"type": "content_block_stop", "index": index},
        ]

    def _blocks(self, body: dict[str, Any]) -> list[dict[str, Any]]:
        contents = [message["content"] for message in body["messages"]]
        blocks = [block for content in contents if isinstance(content, list) for block in content]
        results = sum(block.get("type") == "tool_result" for block in blocks)
        asked = json.dumps(contents[0]) if body.get("tools") else ""
        answer = self.script(asked, results) if asked else "a title"
        if isinstance(answer, str):
            return [{"type": "text", "text": answer}]
        number = len(self.model.requests)
        return [
            {"type": "text", "text": f"step {results}"},
            *(
                {"type": "tool_use", "id": f"toolu_{number:04}{n}", "name": name, "input": given}
                for n, (name, given) in enumerate(answer)
            ),
        ]


class Gemini(Wire):
    def answer(self, path: str, body: dict[str, Any]) -> tuple[str, bytes]:
        if "countTokens" in path:
            return "application/json", b'{"totalTokens": 5}'
        parts = [part for content in body.get("contents", []) for part in content.get("parts", [])]
        config = body.get("generationConfig", {})
        if config.get("responseMimeType") == "application/json" or config.get("responseJsonSchema"):
            choice = {"model_choice": "flash", "complexity_score": 1, "complexity_reasoning": "x", "next_speaker": "user"}
            answered: list[dict[str, Any]] = [{"text": json.dumps({**choice, "reasoning": "x", "summary": "x"})}]
        else:
            self.model.requests.append(body)
            answer = self.script(json.dumps(parts), sum("functionResponse" in part for part in parts))
            if isinstance(answer, str):
                answered = [{"text": answer}]
            else:
                calls = [{"functionCall": {"name": name, "args": given}} for name, given in answer]
                answered = [{"text": f"step {len(self.model.requests)}"}, *calls]
        candidate = {"content": {"role": "model", "parts": answered}, "finishReason": "STOP", "index": 0}
        usage = {"promptTokenCount": 5, "candidatesTokenCount": 3, "totalTokenCount": 8}
        response = json.dumps({"candidates": [candidate], "usageMetadata": usage, "modelVersion": "scripted"})
        if "stream" in path:
            return "text/event-stream", f"data: {response}\r\n\r\n".encode()
        return "application/json", response.encode()


class Responses(Wire):
    def answer(self, path: str, body: dict[str, Any]) -> tuple[str, bytes]:
        self.model.requests.append(body)
        number = len(self.model.requests)
        items = body["input"]
        results = sum(str(item.get("type")).endswith("_call_output") for item in items)
        answer = self.script(json.dumps(items), results) if body.get("tools") else "a title"
        text = answer if isinstance(answer, str) else f"step {results}"
        said = [{"type": "output_text", "text": text, "annotations": []}]
        output: list[dict[str, Any]] = [{"type": "message", "role": "assistant", "id": f"m{number}", "content": said}]
        for n, (name, given) in enumerate([] if isinstance(answer, str) else answer):
            call = {"type": "function_call", "id": f"fc{number}{n}", "call_id": f"call_{number}{n}", "name": name}
            output.append({**call, "arguments": json.dumps(given)})
        usage: dict[str, Any] = {"input_tokens": 5, "output_tokens": 3, "total_tokens": 8}
        usage |= {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
        response = {"id": f"r{number}", "usage": usage, "output": output}
        return self.stream(
            [
                {"type": "response.created", "response": {"id": f"r{number}"}},
                *({"type": "response.output_item.done", "item": item} for item in output),
                {"type": "response.completed", "response": response},
            ]
        )


class Completions(Wire):
    def answer(self, path: str, body: dict[str, Any]) -> tuple[str, bytes]:
        self.model.requests.append(body)
        number = len(self.model.requests)
        results = sum(message["role"] == "tool" for message in body["messages"])
        answer = self.script(json.dumps(body["messages"]), results) if body.get("tools") else "a title"
        message: dict[str, Any] = {"role": "assistant", "content": answer if isinstance(answer, str) else f"step {results}"}
        if not isinstance(answer, str):
            message["tool_calls"] = [
                {
                    "index": n,
                    "id": f"call_{number}{n}",
                    "type": "function",
                    "function": {"name": name, "arguments": json.dumps(given)},
                }
                for n, (name, given) in enumerate(answer)
            ]
        end = "stop" if isinstance(answer, str) else "tool_calls"
        usage = {"prompt_tokens": 5, "completion_tokens": 3, "total_tokens": 8}
        about = {"id": f"x{number}", "created": 1, "model": "scripted", "usage": usage}
        if not body.get("stream"):
            choice = {"index": 0, "message": message, "finish_reason": end}
            return "application/json", json.dumps({**about, "object": "chat.completion", "choices": [choice]}).encode()
        chunks = [{"index": 0, "delta": message, "finish_reason": None}, {"index": 0, "delta": {}, "finish_reason": end}]
        kind, lines = self.stream([{**about, "object": "chat.completion.chunk", "choices": [chunk]} for chunk in chunks])
        return kind, lines + b"data: [DONE]\n\n"


WIRES: dict[str, type[Wire]] = {"anthropic": Anthropic, "completions": Completions, "gemini": Gemini, "responses": Responses}


@pytest.fixture
def serve() -> Iterator[Callable[[str, Script], Model]]:
    """`serve(wire, script)` starts a model server, which ends with the test."""
    models: list[Model] = []

    def start(wire: str, script: Script) -> Model:
        models.append(Model(WIRES[wire], script))
        return models[-1]

    yield start
    for model in models:
        model.close()


@pytest.fixture(scope="session")
def npm_program(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, str], str]:
    """
    `npm_program(command, package)`: a coding agent that comes by npm.

    It is looked for in the folder that `UNSTUCK_TEST_NPM` names and on the path, else installed beside the virtual environment. Where
    that cannot be done the test is skipped and says why.
    """

    def find(command: str, package: str) -> str:
        found = shutil.which(command, path=os.environ.get("UNSTUCK_TEST_NPM")) or shutil.which(command)
        if found is not None:
            return found
        kept = Path(__file__).resolve().parents[2] / ".venv"
        folder = (kept if kept.is_dir() else tmp_path_factory.getbasetemp()) / "npm" / command
        programs = str(folder / "node_modules" / ".bin")
        if shutil.which(command, path=programs) is None:
            npm = shutil.which("npm")
            if npm is None:
                pytest.skip(f"{package} is not installed, and there is no npm to install it with")
            install = [npm, "install", "--no-audit", "--no-fund", "--prefix", str(folder), package]
            done = subprocess.run(install, capture_output=True, text=True, check=False, timeout=600)
            if done.returncode:
                pytest.skip(f"{package} cannot be installed: {done.stderr.strip()[-300:]}")
        found = shutil.which(command, path=programs)
        assert found is not None
        return found

    return find
