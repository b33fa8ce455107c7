"""
Every code block of the README and the documentation runs.

How a page is read:

- `python` blocks run in order, with one set of names a page. A `text` block right after one is what it prints.
- `console` blocks: each line that begins with `$ unstuck` or `$ python` runs; the lines after it are what it prints.
- A block with a `title="file"` is written to that file first, so that later blocks of the page can use it.
- A `pyproject.toml` with entry points counts as installed from there on.
- `json` and `toml` blocks parse; a `[tool.unstuck]` table or an `unstuck.toml` is accepted by `Options`.
- `sh` blocks need a person: `tests/test_repository.py` looks at those of the README.
- In what is printed, `...` stands for any text, and on a line of its own for any lines.
- `<!-- not run: reason -->` before a block leaves it out. `<!-- needs: module -->` skips the rest of the page without that module.

A page runs in an empty folder that holds a copy of `examples`.
"""

from __future__ import annotations

import asyncio
import contextlib
import html
import importlib
import io
import json
import os
import re
import runpy
import shlex
import shutil
import subprocess
import sys
import tomllib
import warnings
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import unstuck

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
LANGUAGES = {"python", "text", "console", "sh", "json", "toml"}
FENCE = re.compile(
    r"(?:^[ ]*<!-- (?P<mark>not run|needs): (?P<reason>.+?) -->\n+)?"
    r"^(?P<indent>[ ]*)```(?P<language>\w*)(?P<rest>[^\n]*)\n(?P<body>.*?)^(?P=indent)```[ ]*$",
    re.MULTILINE | re.DOTALL,
)


class Block:
    """One fenced block: its language, its text, where it begins, and what the page says about running it."""

    def __init__(self, page: str, match: re.Match[str]) -> None:
        self.line = page.count("\n", 0, match.start("language")) + 1
        self.language = match["language"]
        self.body = "\n".join(line.removeprefix(match["indent"]) for line in match["body"].splitlines())
        title = re.search(r'title="([^"]+)"', match["rest"])
        self.title = title[1] if title else None
        self.skipped = match["mark"] == "not run"
        self.needs = match["reason"] if match["mark"] == "needs" else None
        self.follows = page[: match.start()].rstrip().endswith("```") and not match["mark"]


def blocks(path: Path) -> list[Block]:
    page = path.read_text("utf-8")
    return [Block(page, match) for match in FENCE.finditer(page)]


@pytest.fixture
def closed_loop():
    """The event loop that a page's blocks leave behind is closed, before the garbage collector complains about it."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    yield
    asyncio.set_event_loop(None)
    loop.close()


@pytest.mark.usefixtures("closed_loop")
@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_the_blocks_of_a_page_run(path, tmp_path, monkeypatch):
    """The page's blocks do what the page says, in the order in which it says it."""
    if (ROOT / "examples").is_dir():
        shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    names: dict[str, Any] = {"__name__": "page"}
    printed: str | None = None
    for block in blocks(path):
        where = f"{path.relative_to(ROOT).as_posix()}:{block.line}"
        assert block.language in LANGUAGES, f"{where}: the block's language is {block.language!r}"
        if block.needs:
            pytest.importorskip(block.needs, reason=f"{where} needs it")
            warnings.simplefilter("ignore")  # frameworks announce changes of their own
        if block.skipped:
            continue
        if block.title:
            Path(block.title).parent.mkdir(parents=True, exist_ok=True)
            Path(block.title).write_text(block.body + "\n", "utf-8")
        if block.language == "text" and printed is not None and block.follows:
            assert_printed(printed, block.body, where)
        printed = run(block, where, names)


def run(block: Block, where: str, names: dict[str, Any]) -> str | None:
    """Run one block; return what it printed where the next block may say so."""
    if block.language == "python":
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            exec(compile("\n" * block.line + block.body, where, "exec"), names)
        if block.title:
            importlib.invalidate_caches()
        return output.getvalue()
    if block.language == "console":
        run_console(block, where)
    elif block.language == "json":
        for line in [block.body] if block.body.startswith(("{\n", "[\n")) else block.body.splitlines():
            json.loads(line)
    elif block.language == "toml":
        settings = tomllib.loads(block.body)
        if block.title == "unstuck.toml" or "tool" in settings:
            unstuck.Options.from_toml(Path(block.title or "unstuck.toml"))
        if "entry-points" in settings.get("project", {}):
            install(settings["project"])
        assert settings, where
    return None


def install(project: dict[str, Any]) -> None:
    """Write the metadata by which an installed distribution is found, into the page's folder."""
    folder = Path(f"{project['name'].replace('-', '_')}-{project['version']}.dist-info")
    folder.mkdir()
    (folder / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n", "utf-8"
    )
    groups = [
        "\n".join([f"[{group}]", *(f"{name} = {place}" for name, place in points.items())])
        for group, points in project["entry-points"].items()
    ]
    (folder / "entry_points.txt").write_text("\n".join(groups) + "\n", "utf-8")
    importlib.invalidate_caches()


def run_console(block: Block, where: str) -> None:
    """Run each command after a `$`; what follows it in the block is its output."""
    for entry in re.split(r"^\$ ", block.body, flags=re.MULTILINE)[1:]:
        command, _, expected = entry.partition("\n")
        words = shlex.split(command)
        assert words[0] in ("unstuck", "python"), f"{where}: `{command}` cannot be run by the test; mark it as not run"
        program = [sys.executable, "-m", "unstuck"] if words[0] == "unstuck" else [sys.executable]
        environment = {**os.environ, "COLUMNS": "120", "PYTHONUTF8": "1", "NO_COLOR": "1", "PYTHONPATH": os.getcwd()}  # noqa: PTH109
        done = subprocess.run(
            [*program, *words[1:]], capture_output=True, text=True, encoding="utf-8", env=environment, check=False, timeout=120
        )
        assert done.returncode in ((0, 1) if "--fail-on" in words else (0,)), (
            f"{where}: `{command}` exits with {done.returncode}: {done.stderr}"
        )
        if expected.strip():
            assert_printed(done.stdout, expected, where)


def assert_printed(printed: str, expected: str, where: str) -> None:
    """Whether *printed* is *expected*, in which `...` stands for anything and trailing space does not count."""
    want = [line.rstrip() for line in expected.strip("\n").splitlines()]
    have = "\n".join(line.rstrip() for line in printed.strip("\n").splitlines())
    parts = [r"(?:.*\n)*?.*" if line == "..." else re.escape(line).replace(r"\.\.\.", ".*") for line in want]
    assert re.fullmatch("\n".join(parts), have), f"{where} says\n{expected}\nbut this was printed:\n{have}"


def test_a_wrong_page_fails(tmp_path, monkeypatch):
    """The runner notices a block that raises, one whose output differs, and an unknown language."""
    wrong = [
        "```python\n1 / 0\n```\n",
        "```python\nprint(1)\n```\n\n```text\n2\n```\n",
        "```ruby\n1\n```\n",
        "```console\n$ rm -r x\n```\n",
    ]
    for number, page in enumerate(wrong):
        path = tmp_path / f"{number}.md"
        path.write_text(page, "utf-8")
        monkeypatch.setattr(sys.modules[__name__], "ROOT", tmp_path)
        folder = tmp_path / str(number)
        folder.mkdir()
        with pytest.raises((AssertionError, ZeroDivisionError)):
            test_the_blocks_of_a_page_run(path, folder, monkeypatch)


def test_a_right_page_passes(tmp_path, monkeypatch):
    """The runner shares names between blocks, matches elided output and leaves out what is marked."""
    page = (
        '```python title="part.py"\nvalue = 2\n```\n\n```python\nimport part\n\nprint(1)\nprint(part.value)\nprint(value)\n```\n\n'
        "```text\n1\n...\n2\n```\n\n<!-- not run: it would end the world -->\n\n```python\n1 / 0\n```\n"
    )
    (tmp_path / "page.md").write_text(page, "utf-8")
    monkeypatch.setattr(sys.modules[__name__], "ROOT", tmp_path)
    test_the_blocks_of_a_page_run(tmp_path / "page.md", tmp_path, monkeypatch)
    sys.modules.pop("part", None)


def test_the_pages_name_every_format():
    """The README and the page about scan have a row for each reader, and none for another."""
    tables = runpy.run_path(str(ROOT / "docs" / "tables.py"))
    for path in (tables["README"], tables["SCAN"]):
        page = path.read_text("utf-8")
        assert page == tables["formats"](page), "run docs/tables.py"


def test_the_readme_has_a_row_for_each_adapter():
    """The table of frameworks is the one that the adapters' files make."""
    page = (ROOT / "README.md").read_text("utf-8")
    assert page == runpy.run_path(str(ROOT / "docs" / "tables.py"))["frameworks"](page), "run docs/tables.py"


LINK = re.compile(r"\]\((?!https?:|#)([\w./-]+)")


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(path):
    """Every link to a file, from the README too, names one that is there."""
    assert [link for link in LINK.findall(path.read_text("utf-8")) if not (path.parent / link).exists()] == []


@pytest.mark.parametrize("folder", [".", "compat", "frameworks"])
def test_every_page_is_found_from_the_first(folder):
    """The first page, or that of the folder, links to each page, and the navigation names it."""
    nav = set(re.findall(r": (\S+\.md)$", (ROOT / "mkdocs.yml").read_text("utf-8"), re.MULTILINE))
    places = [(ROOT / "docs" / "index.md"), *(ROOT / "docs" / folder).glob("index.md")]
    linked = {(page.parent / link).resolve() for page in places for link in LINK.findall(page.read_text("utf-8"))}
    pages = [
        page
        for page in sorted((ROOT / "docs" / folder).glob("*.md"))
        if page.parent != ROOT / "docs" or page.name != "index.md"
    ]
    assert [page.name for page in pages if page not in linked] == []
    assert [page.name for page in pages if page.relative_to(ROOT / "docs").as_posix() not in nav] == []


def test_the_example_answer_keeps_to_the_schema():
    """The answer that the page explains is one that the published schema allows, and every field of the schema is explained."""
    schema = json.loads((Path(unstuck.__file__).parent / "schemas" / "scan.schema.json").read_text("utf-8"))
    path = ROOT / "docs" / "answer.md"
    example = next(block for block in blocks(path) if block.language == "json")
    jsonschema.validate(json.loads(example.body), schema)
    page = path.read_text("utf-8")
    fields = {*schema["properties"], *schema["$defs"]["finding"]["properties"]}
    assert [field for field in sorted(fields) if f"`{field}`" not in page] == []


def test_the_page_about_patterns_says_what_works():
    """Each pattern has a section and a row, and the row has the rungs that the code has."""
    tables = runpy.run_path(str(ROOT / "docs" / "tables.py"))
    page = (ROOT / "docs" / "patterns.md").read_text("utf-8")
    assert page == tables["patterns"](page), "run docs/tables.py"
    rows = [row[1] for row in tables["ROW"].findall(page)]
    assert set(tables["presets"]()) - set(rows) == set()
    assert {f"### `{pattern}`" for pattern in rows} == set(re.findall(r"^### `\w+`$", page, re.MULTILINE))


def test_the_page_about_settings_is_complete():
    """Each option, each preset and each environment variable has its place on the page."""
    from unstuck.config import Settings

    page = (ROOT / "docs" / "settings.md").read_text("utf-8")
    rows = set(re.findall(r"^\| `([\w-]+)` \|", page, re.MULTILINE))
    assert {*Settings.__annotations__, *unstuck.PRESETS} - rows == set()


def test_the_picture_shows_what_scan_prints():
    """The words of the README's picture are those that the command prints today; prices change with their table and are left out."""
    pytest.importorskip("genai_prices", reason="the picture shows money")
    made = runpy.run_path(str(ROOT / "docs" / "images" / "scan.py"))["picture"]()
    kept = (ROOT / "docs" / "images" / "scan.svg").read_text("utf-8")
    assert shown(kept) == shown(made), "run docs/images/scan.py again"


def shown(svg: str) -> list[str]:
    lines = re.findall(r"<text[^>]*>(.*?)</text>", svg)
    return [word for word in html.unescape(" ".join(lines)).split() if not word.startswith("$")]
