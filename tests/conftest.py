"""What tests of the command have in common."""

from __future__ import annotations

import pytest

from unstuck.cli import main


@pytest.fixture
def unstuck(capsys):
    """Runs the command in this process: exit status, standard output, standard error."""

    def run(*arguments):
        status = main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return status, out, err

    return run
