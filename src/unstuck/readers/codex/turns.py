"""Where a response of Codex begins and ends, which tokens are its own, and what a person said."""

from __future__ import annotations

import re

from unstuck.events import MAIN, Usage, User
from unstuck.traces.responses import Response, Responses

_PROGRAM = re.compile(
    r"\s*(?:<(?:environment_context|user_instructions|turn_aborted|subagent_notification|user_shell_command|skill|permissions"
    r"|collaboration_mode|ide_context|hook_prompt|system|apps_instructions|model_switch)\b|# AGENTS\.md instructions|Warning: )"
)


class Turns(Responses):
    """
    Responses of a rollout.

    A rollout lists the parts of answers without saying which belong together. The tokens of a response mark it: older versions
    write them before its parts, newer ones behind them and before the outputs. Without tokens, a part behind outputs begins a new
    response.
    """

    def __init__(self, run: str = "") -> None:
        super().__init__(run)
        self._early: Usage | None = None
        self._tokens_first = False
        self._answered = False
        self._said: str | None = None
        self._confirmed: str | None = None
        self._confirms = False

    def answer(self) -> Response:
        """The response to which the next part of an answer belongs."""
        self.settle()
        if self._early is not None or (self._answered and not self._tokens_first):
            self.close()
        begins = MAIN not in self.open
        response = self.part()
        if begins:
            self._tokens_first = self._early is not None
            response.usage, self._early = self._early, None
        self._answered = False
        return response

    def tokens(self, usage: Usage | None) -> None:
        """The tokens of the open response, or of the next one where they come first."""
        response = self.open.get(MAIN)
        if response is not None and (response.usage is None or (response.calls and not self._answered)):
            response.usage = usage
        else:
            self._early = usage
        self.close()

    def result(self) -> None:
        """The open response has had an output."""
        self._answered = True

    def user(self, said: str) -> None:
        """A message in the user's role: a person's or the program's, which the next lines may tell."""
        self.settle()
        self.close()
        if _PROGRAM.match(said):
            self.put(User(self.run, said, "harness"))
        elif said and said == self._confirmed:
            self._confirmed = None
        else:
            self._said = said

    def person(self, said: str) -> None:
        """Codex noted that a person said this; the message itself stands before or behind the note."""
        self._confirms = True
        if self._said is not None and (said.strip() in self._said or self._said.strip() in said):
            self.put(User(self.run, self._said))
            self._said = None
            return
        self.settle()
        self.close()
        self.put(User(self.run, said))
        self._confirmed = said

    def settle(self) -> None:
        """A user message without a note is a person's only where the rollout has no notes at all."""
        if self._said is not None:
            self.put(User(self.run, self._said, "harness" if self._confirms else "user"))
            self._said = None
