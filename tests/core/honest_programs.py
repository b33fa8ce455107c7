"""More honest work: what programs, shells, tables and services are used for."""

from __future__ import annotations

from typing import Any

from tests.core.patterns import CITIES, THINGS, X, chapter, edit

PAIRS = list(zip(CITIES, THINGS, strict=True))
HONEST: dict[str, list[Any]] = {
    "one call, rate-limited, after growing waits": [
        X("fetch", {"url": "u"}, "429 Too Many Requests", "error", float(2**n)) for n in range(12)
    ],
    "one call, timed out, a minute between": [
        X("fetch", {"url": "u"}, "Error: timed out", "error", 75.0 * n) for n in range(12)
    ],
    "the state of the tree between commits": [
        x
        for n in range(10)
        for x in (
            X("bash", {"command": f"git commit -am 'step {n} {THINGS[n]}'"}, f"[main {n}a{n}b{n}c] step"),
            X("bash", {"command": "git status"}, "nothing to commit, working tree clean"),
        )
    ],
    "tests after each change by a stream editor": [
        x
        for n in range(10)
        for x in (
            X("bash", {"command": f"sed -i 's/a{n}/b{n}/' x.py"}, ""),
            X("bash", {"command": "pytest -q"}, "3 failed in 2.1s"),
        )
    ],
    "what is there after each new folder": [
        x
        for n in range(8)
        for x in (
            X("bash", {"command": f"mkdir d{n}"}, ""),
            X("bash", {"command": "ls"}, " ".join(f"d{k}" for k in range(n + 1))),
        )
    ],
    "an editor that views many files": [
        X("str_replace_editor", {"command": "view", "path": f"/src/{t}.py"}, chapter(n)) for n, t in enumerate(THINGS)
    ],
    "cells of a notebook": [X("python", {"code": f"df.{thing}()"}, chapter(n)) for n, thing in enumerate(THINGS)],
    "cells that print nothing": [X("python", {"code": f"x = df['{thing}'].{city}()"}, "") for city, thing in PAIRS],
    "programs that print nothing": [X("bash", {"command": f"./build {thing} {city}"}, "") for city, thing in PAIRS],
    "rows put in": [
        X("sql", {"query": f"INSERT INTO t VALUES ({n}, '{THINGS[n % 16]}')"}, "OK, 1 row affected") for n in range(20)
    ],
    "rows put in and counted": [
        x
        for n in range(10)
        for x in (
            X("sql", {"query": f"INSERT INTO t VALUES ({n}, '{THINGS[n]}')"}, "OK"),
            X("sql", {"query": "SELECT COUNT(*) FROM t"}, str(n)),
        )
    ],
    "rows changed through a query, and read": [
        x
        for n in range(10)
        for x in (
            X("query", {"sql": f"UPDATE t SET a = {n} WHERE id = {n}"}, "1 row affected"),
            X("get_table_size", {"table": "t"}, "10 rows"),
        )
    ],
    "keys pressed, one after another": [X("computer", {"action": "key", "text": "Tab"}, "ok")] * 5,
    "thoughts written down": [X("think", {"thought": chapter(n)}, "Your thought has been logged.") for n in range(12)],
    "files changed by code, and checked": [
        x
        for n in range(10)
        for x in (
            X("bash", {"command": f"python - <<'EOF'\nopen('{n}.txt', 'w').write('x')\nEOF"}, ""),
            X("bash", {"command": "pytest -q"}, "3 failed in 2.1s"),
        )
    ],
    "searches that find nothing, by their exit status": [
        X("bash", {"command": f"grep -rn {thing} src"}, "Exit code 1", "error") for thing in THINGS[:7]
    ],
    "conditions that do not hold": [
        x
        for n, thing in enumerate(THINGS)
        for x in (X("bash", {"command": f"test -e {thing}.txt"}, "", "error"), X("read_file", {"path": thing}, chapter(n)))
    ],
    "tests that fail differently, as a shell reports them": [
        X("bash", {"command": f"pytest tests/test_{thing}.py"}, f"{n + 2} failed, 3 passed\n[exit code: 1]")
        for n, thing in enumerate(THINGS)
    ],
    "logs of failures that are read": [
        X("read_file", {"path": f"{thing}.log"}, f"Error: {city} broke\n{chapter(n)}\n" * 6)
        for n, (city, thing) in enumerate(PAIRS)
    ],
    "one short word about each of many repositories": [
        X("bash", {"command": f"gh run list -R acme/{thing}-{n} -L1 --json conclusion"}, "success")
        for n, thing in enumerate(THINGS)
    ],
    "one short word about each of many hosts": [
        X("bash", {"command": f"ssh web-{n:02} systemctl is-active nginx"}, "active") for n in range(16)
    ],
    "one short word about each of many addresses": [
        X("bash", {"command": f"ping -c1 10.0.0.{n} >/dev/null && echo up || echo down"}, "down") for n in range(16)
    ],
    "a list in a file that is looked at every half hour": [
        X("read_file", {"path": "HEARTBEAT.md"}, chapter(1), "ok", 1_800.0 * n) for n in range(20)
    ],
    "a page that is loaded again every two minutes": [
        X("browser_navigate", {"url": "https://x.example/"}, "Not on sale", "ok", 120.0 * n) for n in range(20)
    ],
    "a to-do list and the work on it": [
        x
        for n in range(6)
        for x in (
            X("TodoWrite", {"todos": [{"t": THINGS[k], "done": k < n} for k in range(6)]}, "Todos have been modified."),
            edit(n, f"{THINGS[n]}.py"),
        )
    ],
    "names out of a list, none of them used": [
        X("Grep", {"pattern": f"{thing}{city}", "path": "src", "glob": "!lib.ts"}, "No files found") for city, thing in PAIRS
    ],
    "names out of a list, as patterns of whole words": [
        X("run_shell_command", {"command": f"rg -n '\\b{thing}{city}\\b' src --glob '!src/lib.ts'"}, "")
        for city, thing in PAIRS
    ],
    "names out of a list, some looked up at once": [
        [X("Grep", {"pattern": f"{thing}{end}", "path": "src"}, "No files found") for end in ("Store", "View")]
        for thing in THINGS
    ],
    "days without an entry": [X("list_events", {"date": f"2026-03-{n + 1:02}"}, []) for n in range(16)],
    "hosts without an address": [
        X("bash", {"command": f"dig +short {thing}-{n}.example"}, "") for n, thing in enumerate(THINGS)
    ],
    "persons on no list": [X("screen_name", {"name": f"{city} {thing.title()}"}, '{"matches": []}') for city, thing in PAIRS],
    "nothing left after each removal": [
        x
        for n, thing in enumerate(THINGS)
        for x in (
            edit(n, f"{thing}.py"),
            X("bash", {"command": f"grep -rn 'flags.{thing}' ."}, "(no output)"),
        )
    ],
    "a pause before each look at something that grows": [
        x
        for n in range(16)
        for x in (
            X("bash", {"command": "sleep 30"}, "", "ok", 34.0 * n),
            X(
                "bash",
                {"command": "psql -Atc 'select pg_size_pretty(pg_database_size(1))'"},
                f"{3 * n + 1} GB",
                "ok",
                34.0 * n + 32,
            ),
        )
    ],
    "one letter to many": [
        X("send_email", {"to": f"{city}@x.example", "body": "Your order has shipped."}, "sent") for city in CITIES
    ],
    "one notice to many": [X("notify", {"user": n, "text": "Meeting at ten"}, "ok") for n in range(16)],
    "questions to a person": [X("ask_user", {"question": f"What about the {thing}?"}, "yes") for thing in THINGS[:10]],
    "a batch that is classified": [
        X("classify", {"text": f"The {thing} from {city} arrived"}, "positive") for city, thing in PAIRS
    ],
    "a batch that is valid": [X("validate", {"file": f"{thing}.json"}, "valid") for thing in THINGS],
    "a batch without complaints": [X("lint", {"path": f"{thing}.py"}, "no issues") for thing in THINGS],
    "a batch without errors, as JSON": [X("lint", {"path": f"{thing}.py"}, '{"errors": []}') for thing in THINGS],
    "services that are all well": [X("check_status", {"service": thing}, "healthy") for thing in THINGS],
    "the same four files in two responses": [
        [X("read_file", {"path": thing}, chapter(n)) for n, thing in enumerate(THINGS[:4])]
    ]
    * 2,
    "a page after another, and back": [
        x for n in range(4) for x in (X("browser_click", {"ref": f"e{n}"}, chapter(n)), X("browser_navigate_back", {}, "back"))
    ],
    "a job that moves, as a value": [X("get_job", {"id": 1}, {"state": "running", "progress": 5 * n}) for n in range(18)],
    "an agent that gets on": [
        X("task_output", {"id": "a1"}, f"running, {3 * n} of 60 files done", "ok", 5.0 * n) for n in range(18)
    ],
}
"""What it is: the rounds."""
