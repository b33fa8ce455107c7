"""
The `unstuck` command.

`main` looks at the arguments before it imports anything: a hook runs on every tool call of a coding agent and must not pay for
click and rich.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence

DIRECT: Mapping[tuple[str, ...], str] = {("hook", "run"): "unstuck.hooks.run"}
"""First arguments -> module whose `main(arguments)` answers them without click."""

INTERRUPTED = 130
"""The exit status after Ctrl-C: what a shell reports for SIGINT."""
PIPE_CLOSED = 141
"""The exit status when the reader of our output went away: what a shell reports for SIGPIPE."""


def main(arguments: Sequence[str] | None = None) -> int:
    """
    Run the command with *arguments* (`None`: those of the process) and return its exit status.

    0 fine, 1 a run reached `--fail-on`, 2 usage, 3 nothing readable.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    for first, module in DIRECT.items():
        if tuple(given[: len(first)]) == first:
            import gc
            from importlib import import_module

            gc.disable()  # the process ends before there is anything to collect, and looking takes time while modules load
            try:
                return int(import_module(module).main(given[len(first) :]))
            except KeyboardInterrupt:
                return INTERRUPTED
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            # Names in traces may hold what a Windows console cannot show.
            stream.reconfigure(errors="backslashreplace")
    try:
        from unstuck.cli.app import run

        status = run(given)
        sys.stdout.flush()
    except KeyboardInterrupt:
        sys.stderr.write("aborted\n")
        return INTERRUPTED
    except BrokenPipeError:
        # What is still buffered would raise again when Python closes standard output.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return PIPE_CLOSED
    return status
