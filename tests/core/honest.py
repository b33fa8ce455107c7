"""Runs of honest work that look like loops."""

from __future__ import annotations

from typing import Any

from tests.core.patterns import CITIES, COMPACTED, THINGS, X, chapter, edit, said

ALL_WELL = "I read every line of it and ran its tests. No mistakes were found: names, types and error handling are all as they should be."
HONEST: dict[str, list[Any]] = {
    "tests run again after each fix": [
        x for n in range(12) for x in (edit(n), X("bash", {"command": "npm test"}, "3 failed, 27 passed"))
    ],
    "the same look after each different write": [
        x
        for n in range(10)
        for x in (X("append_row", {"row": n, "city": CITIES[n]}, "row added"), X("read_file", {"path": "head"}, chapter(1)))
    ],
    "a file read forward": [
        X("read_file", {"path": "big.log", "offset": 100 * n, "limit": 100}, chapter(n)) for n in range(16)
    ],
    "pages fetched one after another": [X("fetch", {"url": f"https://x.example/?page={n}"}, chapter(n)) for n in range(16)],
    "a screen scrolled on": [X("scroll_page", {"direction": "down"}, chapter(n)) for n in range(16)],
    "a debugger stepped on": [X("debug_step", {}, f"stopped at line {n + 10}: {THINGS[n]} = {CITIES[n]}") for n in range(16)],
    "a program run on to a breakpoint, and looked at": [
        x
        for n in range(12)
        for x in (
            X("gdb", {"cmd": "continue"}, "Continuing.\n\nBreakpoint 1, push (b=0x5555557592a0) at ring.c:41\n41\t    b->n++;"),
            X("gdb", {"cmd": "print b->n"}, f"${2 * n + 1} = {7 * n}"),
            X("gdb", {"cmd": "print b->err"}, f"${2 * n + 2} = 0"),
        )
    ],
    "a value watched between steps, others that stay": [
        x
        for n in range(12)
        for x in (
            X("pdb", {"command": "n"}, "> /srv/ring.py(41)push()"),
            X("pdb", {"command": "p self.err"}, "None"),
            X("pdb", {"command": "p self.n"}, str(3 * n)),
        )
    ],
    "a program stepped through a loop of its own": [
        X("gdb", {"command": "next"}, f"{41 + n % 3}\t    {THINGS[n % 3]}();") for n in range(17)
    ],
    "one page after another, and the list again": [
        x
        for n in range(10)
        for x in (
            X("browser_click", {"ref": f"e{n}"}, chapter(n)),
            X("browser_navigate_back", {}, f"The list of all pages: {chapter(99)}"),
        )
    ],
    "the pages of a wizard": [
        X("computer", {"action": "left_click", "coordinate": [702, 560]}, f"Clicked. Window title: 'Printer setup - {page}'")
        for page in "Welcome Licence Port Driver Name Sharing Colour Paper Test Summary Finish".split()
    ],
    "long pages that begin alike": [
        X("browser_scroll", {"direction": "down"}, f"{' '.join(THINGS)} {' '.join(CITIES)} {chapter(n)} {' '.join(THINGS)}")
        for n in range(16)
    ],
    "a key pressed, and the screen after it": [
        x
        for n in range(12)
        for x in (
            X("computer", {"action": "key", "text": "Tab"}, "done"),
            X("browser_snapshot", {}, f"focus: {CITIES[n]} {THINGS[n]}; {chapter(0)}"),
        )
    ],
    "a plan read again after a compaction": [
        step
        for n in range(4)
        for step in (
            X("read_file", {"path": "plan.md"}, chapter(1)),
            *(X("write_file", {"path": f"{n}-{k}", "content": chapter(n + k)}, f"wrote {n}-{k}") for k in range(3)),
            COMPACTED,
        )
    ],
    "everything read once more after a compaction": [
        *(X("read_file", {"path": f"ch{n}.md"}, chapter(n)) for n in range(8)),
        COMPACTED,
        *(X("read_file", {"path": f"ch{n}.md"}, chapter(n)) for n in range(8)),
    ],
    "the same edit in twenty files": [
        X("edit_file", {"path": f"mod{n}/{THINGS[n % 16]}.py", "old_string": "foo(", "new_string": "bar("}, "File updated.")
        for n in range(20)
    ],
    "a batch of edits in one response": [
        [edit(n, f"{THINGS[n]}.py") for n in range(8)],
        [edit(n, f"{CITIES[n]}.py") for n in range(8)],
    ],
    "a to-do list brought up to date": [
        X("todo_write", {"todos": [{"task": THINGS[k], "done": k <= n} for k in range(16)]}, "Todos have been updated.")
        for n in range(16)
    ],
    "progress in percent": [X("check_status", {"job": 1}, f"running: {3 * n}%", "ok", 2.0 * n) for n in range(30)],
    "item n of many": [X("get_progress", {"job": 1}, f"processed {n} of 500 files", "ok", 2.0 * n) for n in range(30)],
    "failures that grow fewer": [X("run_tests", {}, f"{20 - n} failed, {n} passed") for n in range(16)],
    "a slow poll": [X("check_status", {"job": 1}, "pending", "ok", 90.0 * n) for n in range(40)],
    "an empty inbox, looked into every half hour": [
        X("search_inbox", {"query": "is:unread"}, '{"messages": []}', "ok", 1_800.0 * n) for n in range(20)
    ],
    "a parallel batch that fails once and is sent again": [
        [X("fetch", {"url": f"https://x.example/{thing}"}, "Error: connection reset by peer", "error") for thing in THINGS[:6]],
        [X("fetch", {"url": f"https://x.example/{thing}"}, chapter(n)) for n, thing in enumerate(THINGS[:6])],
    ],
    "a duplicate within one response": [[X("read_file", {"path": "a"}, "aaa")] * 6],
    "rate limits with growing waits": [
        X("fetch", {"url": "https://x.example/data", "try": n}, "429 Too Many Requests", "error", float(2**n))
        for n in range(12)
    ],
    "errors of different kinds": [
        X("compile", {"file": f"{city}.c"}, f"Error: {thing} is not declared, expected {city} before {thing}s", "error")
        for city, thing in zip(CITIES[:12], THINGS, strict=False)
    ],
    "refusals on different targets": [
        X(
            "edit_file",
            {"path": f"{thing}.py", "old_string": "a", "new_string": "b"},
            "Error: string to replace not found in file",
            "error",
        )
        if n % 2 == 0
        else X("write_file", {"path": f"{thing}.py", "content": chapter(n)}, f"wrote {n}")
        for n, thing in enumerate(THINGS)
    ],
    "several tools, several errors": [
        X(f"get_{thing}", {"id": thing}, f"Error: {text}", "error")
        for thing, text in zip(
            THINGS,
            ("access denied", "no such table", "bad syntax near from", "disk is full", "unknown column", "division by zero"),
            strict=False,
        )
    ],
    "commands that are not installed": [
        X("bash", {"command": f"{command} --version"}, f"bash: {command}: command not found", "error")
        for command in ("rg", "fd", "bat", "eza")
    ],
    "a tool that exists at the second try": [
        X("read_mind", {}, "Unknown tool: read_mind", "error"),
        X("read_minds", {}, "Unknown tool: read_minds", "error"),
        X("read_file", {"path": "a"}, "aaa"),
    ],
    "empty answers with a hit among them": [
        X("search", {"query": f"{city} {thing}"}, "1 hit: page 7" if n % 6 == 5 else "No results found.")
        for n, (city, thing) in enumerate(zip(CITIES, THINGS, strict=True))
    ],
    "different things looked up, with one short answer": [
        X("get_price", {"product": f"{city} {thing}"}, "19.90 EUR") for city, thing in zip(CITIES, THINGS, strict=True)
    ],
    "commands with real output": [
        X("bash", {"command": f"sleep 5; tail -n 1 build-{n}.log"}, f"[{THINGS[n]}] linking {CITIES[n]}") for n in range(12)
    ],
    "edits that advance": [edit(n) for n in range(12)],
    "one edit taken back": [
        X("edit_file", {"path": "a.py", "old_string": "x = 1", "new_string": "x = 2"}, "File updated."),
        X("bash", {"command": "pytest"}, "1 failed"),
        X("edit_file", {"path": "a.py", "old_string": "x = 2", "new_string": "x = 1"}, "File updated."),
        X("bash", {"command": "pytest"}, "1 failed"),
        X("edit_file", {"path": "a.py", "old_string": "y = 1", "new_string": "y = 2"}, "File updated."),
    ],
    "work given to many agents": [
        X("spawn_agent", {"task": f"write the chapter about the {thing} of {city}"}, f"agent {n} started")
        for n, (city, thing) in enumerate(zip(CITIES, THINGS, strict=True))
    ],
    "a task handed on once, then worked on": [
        X("spawn_agent", {"task": "move the users table"}, "agent 1 started"),
        *(X("read_file", {"path": f"{n}.sql"}, chapter(n), agent="agent-1") for n in range(8)),
        X("spawn_agent", {"task": "check the rows that were moved"}, "agent 2 started", agent="agent-1"),
    ],
    "a hand-off there and back": [
        X("handoff_to_support", {}, "support takes over", agent="sales"),
        X("lookup_ticket", {"id": 7}, chapter(1), agent="support"),
        X("handoff_to_sales", {}, "sales takes over", agent="support"),
        X("create_offer", {"id": 7}, "offer 12", agent="sales"),
    ],
    "hand-offs with work in between": [
        x
        for n in range(6)
        for x in (
            X("handoff_to_coder", {}, "coder takes over", agent="planner"),
            X("write_file", {"path": f"{n}.py", "content": chapter(n)}, f"wrote {n}.py", agent="coder"),
            X("handoff_to_planner", {}, "planner takes over", agent="coder"),
            X("write_file", {"path": f"plan{n}.md", "content": chapter(n + 6)}, f"wrote plan{n}.md", agent="planner"),
        )
    ],
    "hand-offs without words, with new looks in between": [
        x
        for n in range(8)
        for x in (
            X("list_topics", {"after": n}, chapter(n), agent="lead"),
            X("transfer_to_analyst", {}, "ok", agent="lead"),
            X("query", {"topic": THINGS[n]}, chapter(n + 8), agent="analyst"),
            X("transfer_to_lead", {"reason": f"{THINGS[n]} {CITIES[n]} is done"}, "ok", agent="analyst"),
        )
    ],
    "a circle of agents that is closed once": [
        X(f"transfer_to_{to}", {}, "ok", agent=by)
        for by, to in [("triage", "billing"), ("billing", "returns"), ("returns", "triage"), ("triage", "billing")]
    ],
    "one kind of job for many files, with one answer": [
        X(
            "Task",
            {"prompt": f"Review the file {city}.py for mistakes and say what you found", "subagent_type": "reviewer"},
            ALL_WELL,
        )
        for city in CITIES
    ],
    "one kind of job for many files, whose names stand first": [
        X("Task", {"prompt": f"{city}.py: look for mistakes and say what you found", "subagent_type": "reviewer"}, ALL_WELL)
        for city in CITIES
    ],
    "a review after each change": [
        x
        for n in range(8)
        for x in (
            edit(n),
            X("Task", {"prompt": f"Please review my change once more, this time for its {THINGS[n]}s"}, ALL_WELL),
        )
    ],
    "steps of a plan, each reported in much the same words": [
        X(
            "ask_agent",
            {"agent": "coder", "message": f"Step {n}: implement the {thing} endpoint"},
            f"Done. I implemented the {thing} endpoint and added tests for it; all tests pass now.",
        )
        for n, thing in enumerate(THINGS)
    ],
    "modules reviewed in new words, each reported in much the same words": [
        X(
            "Task",
            {"prompt": f"{verb} the {thing} module for mistakes in its {city} part"},
            f"I read the whole module about the {thing} and ran its tests. No mistakes were found in its {city} part.",
        )
        for n, (verb, thing, city) in enumerate(zip(("Review", "Check", "Read", "Examine") * 4, THINGS, CITIES, strict=True))
    ],
    "jobs of many kinds, with one receipt": [
        X("spawn_agent", {"task": f"{verb} the {thing} of {city}"}, {"agent_id": f"ag-{n}f{n}c9"})
        for n, (verb, thing, city) in enumerate(
            zip(("Fetch", "Paint", "Weigh", "Sell", "Repair", "Photograph", "Count", "Return"), THINGS, CITIES, strict=False)
        )
    ],
    "different reports": [
        said("The parser now reads quoted fields. Seven tests cover it."),
        said("Migration of the orders table took four minutes; no row was lost."),
        said("I could not reach the staging host, so deployment waits for the network team."),
        said("Documentation: three pages rewritten, two pictures redrawn."),
        said("Benchmarks show half the latency at the ninety-ninth percentile since caching began."),
        said("Everything asked for is finished."),
    ],
    "steps of many, one after another": [said(f"Step {n} of 12 done, continuing with step {n + 1}.") for n in range(1, 12)],
    "percent of the whole, one after another": [said(f"About {7 * n} % of the rows are in now.") for n in range(1, 14)],
    "chapters, not very many": [said(f"Chapter {n + 1} is translated and saved.") for n in range(9)],
    "drafts that a critic speaks about": [
        draft
        for n in range(6)
        for draft in (
            said(" ".join(chapter(k) for k in (n, *range(n + 7, 17)))),
            said(f"The {THINGS[n]} of {CITIES[n]} is weak: {chapter(n + 20)}")._replace(agent="critic"),
        )
    ],
    "an empty response now and then": [
        said(""),
        said(None),
        X("read_file", {"path": "a"}, "aaa"),
        said(""),
        said(""),
        said("Done."),
    ],
    "different work after each compaction": [
        step
        for n in range(6)
        for step in (
            X(f"make_{THINGS[n]}", {"path": f"{n}.md"}, chapter(n)),
            X("read_file", {"path": f"{n}.py"}, chapter(n + 1)),
            COMPACTED,
        )
    ],
    "a table and a list": [
        said(
            "| city | thing |\n|---|---|\n"
            + "".join(f"| {city} | {thing} |\n" for city, thing in zip(CITIES, THINGS, strict=True)) * 3
        )
    ],
    "code that repeats in lines": [
        said("```python\n" + "".join(f"    assert parse({n}) == {n * n}\n" for n in range(80)) + "```")
    ],
}
"""What it is: the rounds."""
