"""Runs that loop, each with the finding that shows it."""

from __future__ import annotations

from typing import Any

from tests.core.looping_agents import LOOPS as AGENTS
from tests.core.patterns import CITIES, COMPACTED, THINGS, Found, X, chapter, said

LOOPS: dict[str, tuple[list[Any], Found]] = {
    "one file read three times": (
        [X("read_file", {"path": "a.py"}, chapter(1))] * 3,
        Found("repeated_result", "nudge", 3),
    ),
    "one file read three times, other reads between": (
        [
            x
            for n in range(3)
            for x in (X("read_file", {"path": "a.py"}, chapter(1)), X("read_file", {"path": f"b{n}"}, chapter(n + 2)))
        ],
        Found("repeated_result", "nudge", 5),
    ),
    "a call that fails again, the plan brought up to date between": (
        [
            x
            for n in range(3)
            for x in (
                X("deploy", {"env": "test"}, "Error: the registry refused the image", "error"),
                X("update_plan", {"plan": [{"step": THINGS[k], "done": k < n} for k in range(4)]}, "Plan updated"),
            )
        ],
        Found("repeated_result", "nudge", 5),
    ),
    "one file read again, a thought written down between": (
        [
            x
            for n in range(3)
            for x in (X("read_file", {"path": "a"}, chapter(1)), X("think", {"thought": chapter(n)}, "Thought noted."))
        ],
        Found("repeated_result", "nudge", 5),
    ),
    "a state read again, the database asked between by a tool that may also change it": (
        [
            x
            for n in range(3)
            for x in (
                X("get_order", {"id": 7}, '{"state": "open"}'),
                X("execute_sql", {"sql": f"SELECT * FROM t WHERE id = {n}"}, chapter(n)),
            )
        ],
        Found("repeated_result", "nudge", 5),
    ),
    "a screen looked at again, nothing done": (
        [X("computer", {"action": "screenshot"}, "image 7")] * 3,
        Found("repeated_result", "nudge", 3),
    ),
    "one page past its cache": (
        [X("fetch", {"url": f"https://x.example/a?id=7&_={1700 + n}"}, chapter(1)) for n in range(3)],
        Found("repeated_result", "nudge", 3),
    ),
    "one page past its cache, from a shell": (
        [X("bash", {"command": f"curl -s 'https://x.example/a?ts={n}'"}, '{"up": 1}') for n in range(3)],
        Found("repeated_result", "nudge", 3),
    ),
    "one answer that counts how often it was given": (
        [X("get_state", {"id": 7}, f"open (request {n + 17})") for n in range(3)],
        Found("repeated_result", "nudge", 3),
    ),
    "one write sent again and again": (
        [X("write_file", {"path": "a.txt", "content": "the same"}, "wrote 8 bytes")] * 3,
        Found("repeated_result", "nudge", 3),
    ),
    "one call whose clock ticks": (
        [
            X("get_state", {"id": 7}, f"state: open (checked at 12:00:{n:02}, took {n * 7} ms, request_id=ab{n}f{n}9)")
            for n in range(3)
        ],
        Found("repeated_result", "nudge", 3),
    ),
    "a screen scrolled at its bottom": (
        [X("scroll_page", {"direction": "down"}, chapter(n)) for n in range(4)]
        + [X("scroll_page", {"direction": "down"}, chapter(4))] * 8,
        Found("repeated_result", "nudge", -1),
    ),
    "a key pressed, and the same screen after it": (
        [
            x
            for _ in range(6)
            for x in (X("computer", {"action": "key", "text": "Tab"}, "done"), X("browser_snapshot", {}, chapter(0)))
        ],
        Found("repeated_result", "nudge", -1),
    ),
    "steps that bring the same two pages": (
        [X("browser_click", {"ref": "next"}, f"page of the {THINGS[n % 2]} and the {CITIES[n % 2]}") for n in range(14)],
        Found("repeated_call", "nudge", -1),
    ),
    "one question to a model, answered in other words of the same kind": (
        [
            X(
                "ask_expert",
                {"q": "why?"},
                " ".join(
                    "it is probably due to the cache being stale again today".split()[n % 4 :]
                    + ["it", "is", "probably", "due"][: n % 4]
                ),
            )
            for n in range(12)
        ],
        Found("repeated_call", "nudge", -1),
    ),
    "a bare number that rises by itself": (
        [X("get_counter", {}, str(100 + 3 * n)) for n in range(12)],
        Found("repeated_call", "nudge", 7),
    ),
    "three steps in turn": (
        [X("read_file", {"path": "a.py"}, "aaa"), X("list_dir", {"path": "."}, "bbb"), X("grep", {"pattern": "x"}, "ccc")] * 4,
        Found("cycle", "block", 10),
    ),
    "a parallel pair, in either order": (
        [
            order
            for n in range(4)
            for order in [[X("read_file", {"path": "a"}, "aaa"), X("grep", {"pattern": "b"}, "bbb")][:: 1 if n % 2 else -1]]
        ],
        Found("cycle", "block", 7),
    ),
    "the same search in other words": (
        [
            X("search", {"query": f"how does the retry queue drain on shutdown {word}"}, "Page 1: the retry queue")
            for word in CITIES[:5]
        ],
        Found("near_repeat", "nudge", 5),
    ),
    "the same search with a rising limit and new reasons": (
        [
            X(
                "search",
                {"query": "retry queue", "limit": 10 * n, "reason": f"{CITIES[n]} {THINGS[n]} {CITIES[n + 3]}"},
                "Page 1",
            )
            for n in range(5)
        ],
        Found("near_repeat", "nudge", 5),
    ),
    "a tool that refuses whatever it is given": (
        [
            X(
                "fetch_page",
                {"url": f"https://{city}.example/{thing}"},
                f"Error: certificate expired for https://{city}.example/{thing}",
                "error",
            )
            for city, thing in zip(CITIES[:5], THINGS, strict=False)
        ],
        Found("repeated_failure", "nudge", 5),
    ),
    "rate limits without waiting": (
        [
            X("fetch_page", {"url": f"https://a.example/{thing}"}, "429 Too Many Requests", "error", float(n))
            for n, thing in enumerate(THINGS)
        ],
        Found("repeated_failure", "nudge", 10),
    ),
    "a quota that is used up, asked for with ever longer waits": (
        [
            X(
                "paint",
                {"prompt": f"a {thing} in {city}"},
                "429: you exceeded your current quota, check your plan",
                "error",
                9.0**n,
            )
            for n, (city, thing) in enumerate(zip(CITIES[:8], THINGS, strict=False))
        ],
        Found("repeated_failure", "nudge", 5),
    ),
    "an edit that is refused for one reason, got over, and refused again": (
        [
            x
            for n in range(4)
            for x in (
                X(
                    "edit_file",
                    {"path": "a.py", "old_string": CITIES[n], "new_string": THINGS[n]},
                    "Error: string to replace not found in file",
                    "error",
                ),
                X("read_file", {"path": "a.py", "offset": n}, chapter(n)),
                X(
                    "edit_file",
                    {"path": "a.py", "old_string": f"{CITIES[n]} x", "new_string": f"{THINGS[n]} x"},
                    "File updated.",
                ),
            )
        ],
        Found("recurring_failure", "nudge", 10),
    ),
    "one cause behind several tools": (
        [
            X(f"{verb}_{thing}", {"id": thing}, "Error: could not connect to database", "error")
            for verb, thing in zip(("get", "list", "count", "find", "show"), THINGS, strict=False)
        ],
        Found("failure_cascade", "nudge", 5),
    ),
    "a failure that comes back as a success": (
        [
            X("bash", {"command": f"frobnicate --mode {city}"}, "bash: frobnicate: command not found", "ok")
            for city in CITIES[:5]
        ],
        Found("repeated_failure", "nudge", 5),
    ),
    "a failure that is reported in an answer": (
        [
            X("lookup", {"id": 7, "view": f"{city} {thing}"}, "Error: the index is locked")
            for city, thing in zip(CITIES[:5], THINGS, strict=False)
        ],
        Found("repeated_failure", "nudge", 5),
    ),
    "one file read again after edits that were refused with a success": (
        [
            x
            for n in range(3)
            for x in (
                X("read_file", {"path": "a.py"}, chapter(1)),
                X(
                    "edit_file",
                    {"path": "a.py", "old_string": f"x = {CITIES[n]}", "new_string": f"x = {THINGS[n]}"},
                    "String to replace not found in file.",
                ),
            )
        ],
        Found("repeated_result", "nudge", 5),
    ),
    "a job that is over, looked at every two minutes": (
        [X("get_job_status", {"id": 1}, '{"status": "failed"}', "ok", 120.0 * n) for n in range(3)],
        Found("stuck_poll", "nudge", 3),
    ),
    "a job that is over, looked at after ever longer sleeps": (
        [X("bash", {"command": f"sleep {10 + n} && jobs describe exp_77"}, "JOB_STATE_FAILED") for n in range(5)],
        Found("near_repeat", "nudge", 5),
    ),
    "a run that is gone, looked at by a tool with any name": (
        [X("bash", {"command": "gh run view 7"}, "run 7 not found", "ok", 120.0 * n) for n in range(3)],
        Found("repeated_result", "nudge", 3),
    ),
    "pages behind one wall": (
        [
            X("scrape_page", {"url": f"https://x.example/{thing}/{n}"}, "Enter the characters you see. Are you a robot?")
            for n, thing in enumerate(THINGS[:5])
        ],
        Found("near_repeat", "nudge", 5),
    ),
    "a server started again and again, which answers the same": (
        [
            x
            for n in range(3)
            for x in (
                X("bash", {"command": "nohup ./serve > serve.log 2>&1 &"}, f"[1] {26598 + n * 77}"),
                X("bash", {"command": "curl -s localhost:8000/health"}, "500"),
            )
        ],
        Found("repeated_result", "nudge", 6),
    ),
    "a tool that does not exist": (
        [X("read_minds", {"of": city}, "Unknown tool: read_minds", "error") for city in CITIES[:3]],
        Found("unknown_tool", "nudge", 3),
    ),
    "a tight poll": (
        [X("check_status", {"job": 5}, "pending", "ok", 2.0 * n) for n in range(6)],
        Found("stuck_poll", "nudge", 6),
    ),
    "a poll without times": (
        [X("wait_for_job", {"job": 5}, "still running")] * 6,
        Found("stuck_poll", "nudge", 6),
    ),
    "sleep and print": (
        [X("bash", {"command": f"sleep 5; echo tick {n}"}, f"tick {n}") for n in range(12)],
        Found("echoed_change", "nudge", -1),
    ),
    "an edit and its reverse": (
        [
            X("edit_file", {"path": "a.py", "old_string": one, "new_string": other}, "File updated.")
            for one, other in [("x = 1", "x = 2"), ("x = 2", "x = 1")] * 4
        ],
        Found("oscillation", "nudge", 4),
    ),
    "a label that is added and removed": (
        [X(f"{verb}_label", {"issue": 7, "label": "bug"}, "done") for verb in ("add", "remove") * 4],
        Found("oscillation", "nudge", 5),
    ),
    "a second sweep over what was read": (
        [X("read_file", {"path": f"ch{n}.md"}, chapter(n)) for n in range(8)] * 2,
        Found("recovered_ground", "nudge", 13),
    ),
    "a spiral of re-reads after compactions": (
        [
            step
            for _ in range(4)
            for step in (COMPACTED, *(X("read_file", {"path": f"ch{n}.md"}, chapter(n)) for n in range(6)))
        ],
        Found("recovered_ground", "nudge", -1),
    ),
    "one answer again, in capitals and with other spaces": (
        [said("I am done with it."), said("I am done  with it."), said("I AM DONE WITH IT.")],
        Found("repeated_text", "nudge", 3),
    ),
    "an intention in ever new words": (
        [
            said("I will now open the file and look at the parser."),
            said("Now I will look at the parser and open the file."),
            said("I will open the parser file now and look at it."),
            said("Now I will look at the file, and open the parser."),
        ],
        Found("monologue", "nudge", 4),
    ),
    "apologies in ever new words": (
        [
            said("I apologize for the confusion. You're right, let me fix that."),
            said("I'm sorry about that. You are right, I will fix it now."),
            said("Apologies for the mistake. Let me correct that."),
            said("Sorry for the oversight! I'll correct it right away."),
        ],
        Found("monologue", "nudge", 4),
    ),
    "long apologies": (
        [
            said(
                "I sincerely apologize for the confusion my earlier answer has caused. You are right that the total was wrong, and I "
                "should have checked the figures before I sent them. I will go over the calculation again and give you the total."
            ),
            said(
                "You are right, and I am sorry for the error. I should have looked at the figures before answering. Let me go over the "
                "calculation again, step by step, and I will then give you the corrected total."
            ),
            said(
                "My apologies for this mistake. You are right to point it out; the total that I gave was not correct. I will now check "
                "the figures again and come back to you with the corrected total as soon as I have it."
            ),
            said(
                "I apologize once more. The total was wrong, as you say, and I should have checked the figures. I will look at the "
                "calculation again and give you the corrected total right away."
            ),
        ],
        Found("monologue", "nudge", -1),
    ),
    "thanks and thanks for the thanks": (
        [
            said(text)
            for text in (
                "Thank you so much for your help!",
                "Thanks again, I really appreciate it.",
                "You are most welcome, happy to help anytime!",
                "My pleasure, have a great day!",
            )
        ],
        Found("monologue", "nudge", 4),
    ),
    "a status that counts and never says how far": (
        [said(f"Chapter {n + 1} is translated and saved.") for n in range(16)],
        Found("monologue", "nudge", -1),
    ),
    "attempts that are counted": (
        [said(f"Attempt {n + 1}: I will now try it again.") for n in range(4)],
        Found("monologue", "nudge", 4),
    ),
    "responses with nothing in them": ([said(""), said(None), said("  \n")], Found("empty_response", "nudge", 3)),
    "a response that goes round in itself": (
        [said("We need to check the parser. " * 60)],
        Found("degenerate_text", "block", 1),
    ),
    "thinking that goes round in itself": (
        [said("Done.", "Wait, maybe the cache. Let me think again about it. " * 40)],
        Found("degenerate_text", "block", 1),
    ),
    "planning anew after each compaction": (
        [
            step
            for n in range(4)
            for step in (
                X("read_file", {"path": "plan.md"}, f"plan {chapter(n)}"),
                X("list_dir", {"path": "src"}, chapter(n + 9)),
                COMPACTED,
            )
        ],
        Found("stalled", "nudge", -1),
    ),
    **AGENTS,
}
"""What it is: the rounds, and what is found (at -1: somewhere)."""
