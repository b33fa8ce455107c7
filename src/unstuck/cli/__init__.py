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
NOT_WRITTEN = 74
"""The exit status when the answer cannot be written (a full disk): what `sysexits.h` calls an input or output error."""
PIPE_CLOSED = 141
"""The exit status when the reader of our output went away: what a shell reports for SIGPIPE."""


def main(arguments: Sequence[str] | None = None) -> int:
    """
    Run the command with *arguments* (`None`: those of the process) and return its exit status.

    0 fine, 1 a run reached `--fail-on`, 2 usage, 3 nothing readable, 74 the answer cannot be written.
    """
    _open_streams()
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
        _drop_output()
        return PIPE_CLOSED
    except OSError as error:
        _drop_output()
        sys.stderr.write(f"unstuck: {error.strerror or error}{f': {error.filename}' if error.filename else ''}\n")
        return NOT_WRITTEN
    return status


def _open_streams() -> None:
    """Put the null device where a standard stream was closed: Python has `None` there."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: PTH123, SIM115 - open to the end; pathlib costs


def _drop_output() -> None:
    """Lead standard output to the null device: what is still buffered would raise again when Python closes it."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
