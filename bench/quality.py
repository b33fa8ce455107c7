"""
How well rule sets tell loops from honest work: our presets, rules written by hand, and other guards.

    python bench/quality.py [--write PAGE] [--json] EVENTS...

EVENTS are event files. Verdicts stand beside one as `NAME.expected.jsonl`, labels as `NAME.labels.jsonl`; files of one kind are counted
together. The other guards are those that are installed: `nox -s quality -- EVENTS...` brings them; one that is absent is listed as such.

Prints, with 95 % intervals (Wilson): for verdicts, loops noticed in time, early, late and not at all, loops stopped in time, honest runs
stopped and nudged, recall, precision, false positives, and the calls spent on a loop from where it was due to be noticed to its block or
stop, or to the end of the run; for labels, recall, precision and false positives where people said what a loop is, and the share of
successful runs that were disturbed. `--write` puts the tables between the markers of PAGE, `--json` prints the counts.
"""

from __future__ import annotations

import argparse
import json
import logging
import sys
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

from corpora import Run, beside, rows, runs_in
from peers import peers
from proportions import Share
from rulesets import REFERENCE, RuleSet, ours
from scoring import Answers, Cases, Labels, score_cases, score_labels

BEGIN, END = "<!-- scoreboard: made by bench/quality.py -->", "<!-- end of scoreboard -->"


class Data(NamedTuple):
    """The runs with verdicts, the verdicts, and the runs with labels by source."""

    cases: list[Run]
    verdicts: dict[str, dict[str, object]]
    labelled: dict[str, list[Run]]


class Score(NamedTuple):
    """What a rule set came to; nothing where it is not installed."""

    rules: RuleSet
    cases: Cases | None
    labels: list[Labels]


def load(paths: list[Path]) -> Data:
    """Read event files with what stands beside them."""
    data = Data([], {}, {})
    for path in paths:
        expected, labels = beside(path, "expected"), beside(path, "labels")
        if expected:
            data.cases.extend(runs_in(path))
            data.verdicts.update(rows(expected))
        elif labels:
            for run in runs_in(path, rows(labels)):
                data.labelled.setdefault(run.source, []).append(run)
        else:
            raise SystemExit(f"{path}: no verdicts and no labels beside it (NAME.expected.jsonl, NAME.labels.jsonl)")
    return data


def score(rules: RuleSet, data: Data) -> Score:
    """Judge every run by *rules*."""
    if rules.judge is None:
        return Score(rules, None, [])
    every = [*data.cases, *(run for runs in data.labelled.values() for run in runs)]
    answers: Answers = {run.name: rules.judge(run.events) for run in every}
    cases = score_cases(data.cases, data.verdicts, answers) if data.cases else None
    return Score(rules, cases, [score_labels(source, runs, answers) for source, runs in data.labelled.items()])


def added(shares: Iterator[Share]) -> Share:
    """Shares of different runs as one."""
    found = list(shares)
    return Share(sum(share.hits for share in found), sum(share.total for share in found))


def cell(share: Share) -> str:
    """A share in a table: the count, and the interval in percent."""
    if not share.total:
        return "–"
    low, high = share.interval
    places = 0 if share.total < 200 else 1
    return f"{share.hits}/{share.total} ({100 * low:.{places}f}–{100 * high:.{places}f} %)"


def case_table(scores: list[Score]) -> Iterator[list[str]]:
    """Rows about verdicts."""
    yield (
        "rule set | version | in time | early | late | missed | stopped in time | false stops | false nudges | recall | precision"
        " | false positives | calls spent"
    ).split(" | ")
    for rules, cases, _ in scores:
        if cases is None:
            yield [rules.name, rules.version, *["–"] * 11]
            continue
        counts = cases.counts
        yield [
            rules.name,
            rules.version,
            cell(cases.share("in_time", "loops")),
            *(str(counts[name]) for name in ("early", "late", "missed")),
            cell(cases.share("stopped_in_time", "stoppable")),
            *(f"{counts[name]}/{counts['honest']}" for name in ("false_stop", "false_nudge")),
            *(cell(share) for share in (cases.recall, cases.precision, cases.false_positives)),
            f"{cases.mean_spent:.1f}",
        ]


def label_table(scores: list[Score]) -> Iterator[list[str]]:
    """Rows about labels, all sources together."""
    yield "rule set | recall | precision | false positives | honest stopped | successful disturbed | successful stopped".split(
        " | "
    )
    for rules, _, labels in scores:
        if rules.judge is None:
            yield [rules.name, *["–"] * 6]
            continue
        names = ("recall", "precision", "false_positives", "honest_stopped", "good_flagged", "good_stopped")
        yield [rules.name, *(cell(added(getattr(label, name) for label in labels)) for name in names)]


def source_table(scores: list[Score]) -> Iterator[list[str]]:
    """Rows about successful runs that were disturbed, by source."""
    sources = next(score.labels for score in scores if score.rules.judge is not None)
    yield ["rule set", *(label.source for label in sources)]
    for rules, _, labels in scores:
        shares = [label.good_flagged for label in labels]
        yield [
            rules.name,
            *(f"{share.hits}/{share.total}" if share.total else "–" for share in shares or [Share(0, 0)] * len(sources)),
        ]


def markdown(table: Iterator[list[str]]) -> str:
    """A table for the documentation."""
    head, *body = table
    lines = [head, ["---"] * len(head), *body]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def plain(table: Iterator[list[str]]) -> str:
    """A table for a terminal."""
    lines = list(table)
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    return "\n".join("  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip() for line in lines)


def sections(scores: list[Score], data: Data) -> Iterator[tuple[str, Iterator[list[str]]]]:
    """Each table with its heading."""
    if data.cases:
        scored = next(score.cases for score in scores if score.cases is not None).counts
        loops, honest, stalls = scored["loops"], scored["honest"], scored["stall"]
        yield f"Runs with verdicts: {loops} loops, {honest} honest, {stalls} stalls", case_table(scores)
    if data.labelled:
        known = [run.label for runs in data.labelled.values() for run in runs if run.label]
        loops = sum(label.get("loop") is True for label in known)
        honest = sum(label.get("loop") is False for label in known)
        good = sum(label.get("success") is True and label.get("loop") is not True for label in known)
        title = f"Recorded runs: {loops} that people called loops, {honest} that they did not, {good} that succeeded"
        yield title, label_table(scores)
        yield "Successful runs disturbed, by source", source_table(scores)


def write(page: Path, scores: list[Score], data: Data) -> None:
    """Put the tables between the markers of *page*."""
    text = page.read_text("utf-8")
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    tables = "\n\n".join(f"### {title}\n\n{markdown(table)}" for title, table in sections(scores, data))
    page.write_text(f"{before}{BEGIN}\n\n{tables}\n\n{END}{after}", "utf-8")


def main() -> int:
    """Print or write the tables."""
    parser = argparse.ArgumentParser(description="Score rule sets on runs with verdicts or labels.")
    parser.add_argument("events", nargs="+", type=Path)
    parser.add_argument("--write", type=Path, metavar="PAGE")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    logging.disable(logging.CRITICAL)  # what the others decide is in the tables
    data = load(options.events)
    scores = [score(rules, data) for rules in (*ours(version("unstuck")), *REFERENCE, *peers())]
    if options.json:
        for rules, cases, labels in scores:
            found = {"rules": rules.name, "version": rules.version, "cases": cases and cases.counts}
            print(json.dumps(found | {"line": cases and cases.line, "labels": [label._asdict() for label in labels]}))
        return 0
    for title, table in sections(scores, data):
        print(f"{title}\n\n{plain(table)}\n")
    if options.write:
        write(options.write, scores, data)
    return 0


if __name__ == "__main__":
    sys.exit(main())
