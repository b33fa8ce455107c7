"""
Makes `scan.svg`, the picture in the README: what `unstuck scan examples/sessions` prints on a terminal.

    python3 dev.py run python docs/images/scan.py
"""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
from pathlib import Path

from rich.console import Console
from rich.text import Text

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
COMMAND = ("unstuck", "scan", "examples/sessions")
WIDTH = 118


def picture() -> str:
    """The SVG text; the same output gives the same text."""
    environment = {**os.environ, "FORCE_COLOR": "1", "COLUMNS": str(WIDTH), "TERM": "xterm-256color", "PYTHONUTF8": "1"}
    environment.pop("NO_COLOR", None)
    done = subprocess.run(
        [sys.executable, "-m", *COMMAND],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=True,
    )
    console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True)
    console.print(Text("$ " + " ".join(COMMAND), style="bold"))
    console.print(Text.from_ansi(done.stdout.rstrip()))
    # The picture loads nothing: without the font that rich names on a server, the reader's own fixed-width font serves.
    return re.sub(r"@font-face \{.*?\}\s*", "", console.export_svg(title="unstuck", unique_id="scan"), flags=re.DOTALL)


if __name__ == "__main__":
    (HERE / "scan.svg").write_text(picture(), "utf-8")
