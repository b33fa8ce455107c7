"""A long log takes no more memory than a short one."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

pytest.importorskip("resource", reason="Windows tells no peak memory")

SCAN = """
import resource, sys
from unstuck.cli import main
status = main(["scan", "--json", sys.argv[1]])
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // (1024 if sys.platform == "darwin" else 1), file=sys.stderr)
sys.exit(status)
"""


def log(path, megabytes):
    """A Claude Code session of that size, in which an agent reads ever new files; returns the number of calls."""
    number = 0
    with path.open("w", encoding="utf-8") as file:
        while file.tell() < megabytes * 1_000_000:
            number += 1
            call = {"type": "tool_use", "id": f"t{number}", "name": "Read", "input": {"file_path": f"/srv/{number}.txt"}}
            usage = {"input_tokens": 10 + number % 7, "cache_read_input_tokens": 5_000 + number, "output_tokens": 30}
            message = {"id": f"m{number}", "role": "assistant", "model": "claude-sonnet-4-5", "content": [call], "usage": usage}
            text = "".join(f"{number}-{line}: some line of text\n" for line in range(120))
            answer = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": f"t{number}", "content": text}]}
            for kind, content in (("assistant", message), ("user", answer)):
                line = {"type": kind, "sessionId": "s", "uuid": f"{kind}{number}", "message": content, "toolUseResult": text}
                file.write(json.dumps(line) + "\n")
    return number


def scanned(path):
    done = subprocess.run([sys.executable, "-c", SCAN, str(path)], capture_output=True, text=True, check=True, timeout=300)
    return json.loads(done.stdout)["calls"], int(done.stderr.split()[-1])


@pytest.mark.slow
def test_300_megabytes_take_the_memory_of_three(tmp_path):
    """A hundred times the log takes at most a tenth more memory, and every call of it is counted."""
    counts, peaks = [], []
    for megabytes in (3, 300):
        path = tmp_path / f"{megabytes}.jsonl"
        calls = log(path, megabytes)
        counted, peak = scanned(path)
        counts.append(counted == calls)
        peaks.append(peak)
    assert counts == [True, True]
    assert peaks[1] < 1.1 * peaks[0]
