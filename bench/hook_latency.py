"""
What a coding agent waits for one hook: the whole process, beside an empty Python.

Fills a state file with sessions that have gone on for a while, then delivers events one by one, each in a process of its own as a
coding agent does, in turns with `python -c pass`. Prints median and 95th percentile in milliseconds and as ratios, what the time
goes to, and whether the bounds are kept (exit status 1 where not).

    python bench/hook_latency.py [CALLS] [SESSIONS]
"""

from __future__ import annotations

import json
import os
import platform
import re
import subprocess
import sys
import time
from pathlib import Path
from statistics import median, quantiles
from tempfile import TemporaryDirectory

from unstuck.events import Call, Result
from unstuck.hooks.guard import Memory
from unstuck.hooks.install import command_line
from unstuck.monitor import Monitor
from unstuck.store import FILE, Key, Saved, Store

CALLS, SESSIONS = 200, 1_000
TURNS = 40
"""Calls that each of the saved sessions has behind it."""
MEDIAN_BOUND, P95_BOUND = 5.0, 8.0


def events(number: int) -> tuple[bytes, bytes]:
    """What Claude Code says before and after call *number*."""
    given = {"command": f"pytest tests/test_{number}.py", "description": "run the tests"}
    about = {"session_id": "measured", "cwd": "/", "tool_name": "Bash", "tool_use_id": f"t{number}"}
    call: dict[str, object] = {**about, "tool_input": given}
    before = call | {"hook_event_name": "PreToolUse"}
    after = call | {"hook_event_name": "PostToolUse", "tool_response": {"stdout": f"{number} passed\n" * 40, "stderr": ""}}
    return json.dumps(before).encode(), json.dumps(after).encode()


def state() -> tuple[str, int]:
    """The saved state of a session that has gone on for a while."""
    monitor = Monitor()
    for number in range(TURNS):
        monitor.observe(Call("r", str(number), "Bash", {"command": f"grep -rn name{number} src"}, number + 1))
        monitor.observe(Result("r", str(number), f"src/file{number}.py:{number}: name{number}\n" * 20))
    return monitor.dump(), monitor.calls


def fill(folder: Path, sessions: int) -> None:
    """Make a state file with so many sessions, the measured one among them."""
    text, calls = state()
    store = Store(str(folder / FILE))
    with store:
        for number in range(sessions - 1):
            store.save(Key("claude_code", f"s{number}", "main"), Saved(text, Memory().dump(), calls))
        store.save(Key("claude_code", "measured", "main"), Saved(text, Memory().dump(), calls))
    store.close()


def milliseconds(command: list[str], given: bytes = b"", folder: str = "") -> float:
    """Wall time of one process."""
    begin = time.perf_counter()
    subprocess.run(command, input=given, env=environment(folder), cwd="/", check=True, capture_output=True)
    return (time.perf_counter() - begin) * 1000


def environment(folder: str) -> dict[str, str]:
    """That of this process, with the state in *folder*; an installed package has its byte code on the disk."""
    return {**os.environ, "UNSTUCK_HOME": folder, "PYTHONDONTWRITEBYTECODE": ""}


def main(calls: int = CALLS, sessions: int = SESSIONS) -> int:
    """Print the figures; return 1 where a bound is not kept."""
    empty, hook = [sys.executable, "-c", "pass"], command_line("claude_code")
    times: dict[str, list[float]] = {"pass": [], "before": [], "after": []}
    with TemporaryDirectory() as folder:
        fill(Path(folder), sessions)
        milliseconds(hook, events(0)[0], folder)  # the first start writes byte code and warms the disk
        for number in range(1, calls // 2 + 1):
            before, after = events(number)
            times["pass"] += [milliseconds(empty), milliseconds(empty)]
            times["before"].append(milliseconds(hook, before, folder))
            times["after"].append(milliseconds(hook, after, folder))
        shares(hook, events(calls)[0], folder)
        size = (Path(folder) / FILE).stat().st_size
    print(f"Python {platform.python_version()}, {calls} calls, {sessions} sessions in {size / 1e6:.1f} MB")
    return report(times)


def report(times: dict[str, list[float]]) -> int:
    """Print median and 95th percentile of all hook processes, as ratios to the empty ones."""
    base, hooks = times["pass"], times["before"] + times["after"]
    p95 = quantiles(hooks, n=20)[-1]
    for name, values in times.items():
        last = quantiles(values, n=20)[-1]
        print(f"{name:7} median {median(values):7.1f} ms {median(values) / median(base):5.2f} x   p95 {last:7.1f} ms")
    ratios = median(hooks) / median(base), p95 / median(base)
    print(
        f"hook: median {ratios[0]:.2f} x `python -c pass` (bound {MEDIAN_BOUND:g}), p95 {ratios[1]:.2f} x (bound {P95_BOUND:g})"
    )
    return int(ratios[0] > MEDIAN_BOUND or ratios[1] > P95_BOUND)


def shares(hook: list[str], given: bytes, folder: str) -> None:
    """Print which imports of one hook process take longest, as `-X importtime` tells."""
    command = [hook[0], "-X", "importtime", *hook[1:]]
    done = subprocess.run(command, input=given, env=environment(folder), cwd="/", check=True, capture_output=True)
    rows = re.findall(r"import time:\s+(\d+) \|\s+(\d+) \| (\s*)(\S+)", done.stderr.decode())
    own = sorted(((int(mine), name) for mine, _, _, name in rows), reverse=True)
    print(f"imports of one process: {sum(mine for mine, _ in own) / 1000:.1f} ms in {len(own)} modules, most in")
    for mine, name in own[:8]:
        print(f"    {mine / 1000:6.2f} ms {name}")


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:3])))
