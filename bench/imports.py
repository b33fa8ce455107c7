"""
What `import unstuck` costs beside an empty Python.

Starts fresh interpreters in turns, so that a busy moment hits every statement alike, and prints the median of each in
milliseconds with its ratio to `pass`. The last line says whether `import unstuck` stays within its bound.

    python bench/imports.py [ROUNDS]
"""

from __future__ import annotations

import importlib.util
import platform
import subprocess
import sys
import time
from statistics import median

BOUND = 5.0
STATEMENTS = ("pass", "import unstuck", "import unstuck.monitor", "import unstuck.config", "import unstuck.cli")
ROUNDS = 30


def milliseconds(statement: str) -> float:
    """Wall time of one interpreter that runs *statement*."""
    begin = time.perf_counter()
    subprocess.run([sys.executable, "-c", statement], check=True)
    return (time.perf_counter() - begin) * 1000


def main(rounds: int = ROUNDS) -> int:
    """Print the table; return 1 where `import unstuck` is over the bound."""
    statements = [one for one in STATEMENTS if one == "pass" or importlib.util.find_spec(one.removeprefix("import "))]
    for statement in statements:
        milliseconds(statement)  # the first start writes byte code and warms the disk
    times: dict[str, list[float]] = {statement: [] for statement in statements}
    for _ in range(rounds):
        for statement in statements:
            times[statement].append(milliseconds(statement))
    medians = {statement: median(values) for statement, values in times.items()}
    print(f"Python {platform.python_version()}, {rounds} rounds")
    for statement, value in medians.items():
        print(f"{statement:26} {value:8.1f} ms {value / medians['pass']:6.2f} x")
    ratio = medians["import unstuck"] / medians["pass"]
    print(f"import unstuck: {ratio:.2f} x `python -c pass`, bound {BOUND:.0f} x")
    return int(ratio > BOUND)


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:2])))
