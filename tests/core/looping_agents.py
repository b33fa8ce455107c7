"""Runs that loop in what is asked in vain, and in what agents pass on to each other."""

from __future__ import annotations

from typing import Any

from tests.core.patterns import CITIES, THINGS, Found, X

REWORDED = (
    "Find the owner of the nightly job on db-2.",
    "Determine who owns the nightly job on host db-2.",
    "Please find out the owner of the nightly job on db-2.",
    "Identify the owner of db-2's nightly job.",
    "Investigate who owns the nightly job on db-2 and report.",
    "Look into who owns the nightly job on db-2.",
)
REPORT = (
    "I searched the crontab, the history of the infrastructure folder and the wiki. None of them names an owner for that job."
)
LOOPS: dict[str, tuple[list[Any], Found]] = {
    "nothing found, whatever is asked": (
        [
            X("search", {"query": f"{city} {thing}"}, "No results found.")
            for city, thing in zip(CITIES[:8], THINGS, strict=False)
        ],
        Found("empty_answers", "nudge", 8),
    ),
    "one question in other words, never answered": (
        [
            X("search", {"query": query}, "No results found.")
            for query in (
                "owner of the nightly job",
                "who owns the nightly job",
                "nightly job owner db-2",
                "db-2 cron owner",
                "cron job responsible person",
                "who is responsible for cron on db-2",
                "nightly cron maintainer",
                "maintainer of the nightly job",
            )
        ],
        Found("empty_answers", "nudge", 8),
    ),
    "one question in patterns, never answered": (
        [
            X("grep", {"pattern": pattern, "path": "notes"}, "No files found")
            for pattern in (
                "pricing.*decision.*January",
                "January.*pricing.*decision",
                "pricing.*decided.*January",
                "price|cost|fee",
                "pricing.*meeting",
                "January.*meeting.*pricing",
                "decision.*Jan",
                "what.*was.*decided",
            )
        ],
        Found("empty_answers", "nudge", -1),
    ),
    "several lists in turn with new filters, all of them empty": (
        [
            X(f"list_{what}", {"filter": f"{what[0]}{n}"}, "[]")
            for n in range(4)
            for what in ("resources", "triggers", "components")
        ],
        Found("empty_answers", "nudge", 8),
    ),
    "guesses at one file": (
        [
            X("Glob", {"pattern": pattern}, "No files found")
            for pattern in (
                "**/config.ts",
                "**/settings.ts",
                "src/**/config.*",
                "**/*.config.ts",
                "config/**",
                "**/conf/*",
                "**/options.ts",
                "**/*.settings.*",
                "**/.env",
                "**/env/config.*",
            )
        ],
        Found("empty_answers", "nudge", -1),
    ),
    "guesses at one name": (
        [
            X("grep", {"pattern": pattern, "path": "src"}, "No matches found")
            for pattern in "parse_date parseDate date_parse ParseDate dateParse parse.*date date.parse parse-date".split()
        ],
        Found("empty_answers", "nudge", -1),
    ),
    "pages after the last": (
        [X("list_orders", {"page": n + 2, "per_page": 50}, "[]") for n in range(8)],
        Found("empty_answers", "nudge", 8),
    ),
    "a file read on beyond its end": (
        [
            X(
                "Read",
                {"file_path": "/d/a.log", "offset": 100 * n + 301, "limit": 100},
                "<system-reminder>Warning: the file exists but is shorter than the provided offset "
                f"({100 * n + 301}). The file has 260 lines.</system-reminder>",
            )
            for n in range(8)
        ],
        Found("empty_answers", "nudge", 8),
    ),
    "ever new names, none of them there": (
        [
            X("grep", {"pattern": f"{CITIES[n % 16]}{THINGS[n // 3].title()}{n}", "path": "src"}, "No matches found")
            for n in range(30)
        ],
        Found("empty_answers", "nudge", -1),
    ),
    "a task handed down a chain": (
        [
            X("spawn_agent", {"task": f"{verb} the users table to the new host"}, f"agent {n} started", agent=f"agent-{n}")
            for n, verb in enumerate(("Move", "Migrate", "Transfer"))
        ],
        Found("delegation_loop", "nudge", 3),
    ),
    "a conversation handed back and forth": (
        [
            X(f"handoff_to_{to}", {}, f"{to} takes over", agent=by)
            for by, to in [("sales", "support"), ("support", "sales")] * 3
        ],
        Found("handoff_loop", "nudge", 6),
    ),
    "a conversation passed round a circle of three": (
        [
            X(f"transfer_to_{to}", {}, f'{{"assistant": "{to}"}}', agent=by)
            for by, to in [("triage", "billing"), ("billing", "returns"), ("returns", "triage")] * 4
        ],
        Found("handoff_loop", "nudge", 9),
    ),
    "a conversation handed to and fro with new reasons, after a look at what was known": (
        [
            x
            for n in range(4)
            for by, to in (("triage", "refunds"), ("refunds", "triage"))
            for x in (
                X("get_order", {"id": "B-19"}, '{"state": "delivered"}', agent=by),
                X(f"transfer_to_{to}", {"reason": f"{CITIES[n]} {THINGS[n]} {by}"}, "transferred", agent=by),
            )
        ],
        Found("handoff_loop", "nudge", 12),
    ),
    "one job given out in other words, with one answer": (
        [
            X("Task", {"prompt": prompt, "subagent_type": "general"}, f"{REPORT} Seen {n + 3} files.")
            for n, prompt in enumerate(REWORDED)
        ],
        Found("near_repeat", "nudge", 5),
    ),
    "one job given out in other words, with reports in other words": (
        [
            X("ask_agent", {"question": prompt}, report)
            for prompt, report in zip(REWORDED, [REPORT, REPORT.replace("searched", "went through")] * 3, strict=True)
        ],
        Found("near_repeat", "nudge", 5),
    ),
    "one job for a new agent each time": (
        [
            X("spawn_agent", {"task": task}, {"agent_id": f"ag-{n}f{n}c9"})
            for n, task in enumerate(
                (
                    "Move the users table to the new host",
                    "Please move the users table to the new host",
                    "Move the users table over to the new host now",
                    "Move users table to the new host",
                    "The users table: move it to the new host",
                )
            )
        ],
        Found("near_repeat", "nudge", 5),
    ),
}
"""What it is: the rounds, and what is found (at -1: somewhere)."""
