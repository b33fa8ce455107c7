"""Runs in whose calls or answers only what means nothing differs, and honest ones that look like them."""

from __future__ import annotations

from typing import Any

from tests.core.patterns import Found, X, chapter

LOOPS: dict[str, tuple[list[Any], Found]] = {
    "an empty page whose cursor is another each time": (
        [X("list_orders", {"state": "open"}, {"items": [], "nextCursor": f"95d{n}529e58c86197{n}a3a"}) for n in range(3)],
        Found("repeated_result", "nudge", 3),
    ),
    "a pod that grows older": (
        [X("bash", {"command": "kubectl get pods"}, f"web-1  0/1  ImagePullBackOff  {0}  {n + 3}m") for n in range(3)],
        Found("repeated_result", "nudge", 3),
    ),
    "to and fro between two rooms of a game that counts its turns": (
        [
            X("env_step", {"action": way}, f"You are in the {room}. [turn {2 * n + k}]")
            for n in range(4)
            for k, (way, room) in enumerate((("left", "cellar"), ("right", "hall")))
        ],
        Found("cycle", "block", 7),
    ),
    "guessed places of one file, each refused by its whole path": (
        [
            X("read_file", {"path": path}, f"Error: ENOENT: no such file or directory, open '/w/{path}'", "error")
            for path in ("docs/spec.md", "./spec.md", "spec/spec.md", "doc/SPEC.md", "notes/spec.txt")
        ],
        Found("repeated_failure", "nudge", 5),
    ),
    "one refusal, asked for in the singular and in the plural": (
        [
            X("bash", {"command": command}, 'Error: User "agent" cannot list resource "secrets" in namespace "prod"', "error")
            for command in (
                "kubectl get secrets -n prod",
                "kubectl -n prod get secret",
                "kubectl get secrets -n prod -o yaml",
                "kubectl get secret -n prod -o name",
                "kubectl describe secrets -n prod",
            )
        ],
        Found("repeated_failure", "nudge", 5),
    ),
}
"""What it is: the rounds, and what is found."""

HONEST: dict[str, list[Any]] = {
    "empty pages, each asked for by the cursor of the one before": [
        X(
            "filter_log_events",
            {"group": "api", "pattern": "out of memory in worker", "cursor": f"95d{n}529e58c8"},
            {"items": [{"kind": "scanned", "rows": 0}], "nextCursor": f"95d{n + 1}529e58c8"},
        )
        for n in range(7)
    ],
    "a list that goes on by itself": [
        X("next_page", {}, {"items": ["none that match in this page"], "nextCursor": f"95d{n}529e58c8"}) for n in range(6)
    ],
    "the rows of a long import": [X("get_import", {"id": 7}, f"rows[{1000 * n + 1000}]: read {chapter(1)}") for n in range(12)],
    "a queue that is worked off": [X("bash", {"command": "uptime"}, f"load average: {9 - n}.10, {9 - n}.20") for n in range(8)],
}
"""What it is: the rounds."""
