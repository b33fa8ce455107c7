"""`python -m unstuck` is the `unstuck` command."""

from __future__ import annotations

from unstuck.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
