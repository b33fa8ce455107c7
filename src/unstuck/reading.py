"""How events are read: what tools are, which are left out, which arguments identify a call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from unstuck.kinds import Kinds


class Reading(NamedTuple):
    """How events are read: what tools are, which are left out, which arguments identify a call."""

    kinds: Kinds = Kinds()
    exempt: frozenset[str] = frozenset()
    identity: Mapping[str, tuple[str, ...]] = {}
    window: int = 64
    approved_repeats: int = 3
    turns: bool = True  # whether a person's request begins anew

    def is_exempt(self, tool: str) -> bool:
        """Whether *tool* neither counts nor breaks others' streaks; a name that ends with `*` stands for all that begin so."""
        if not self.exempt:
            return False
        return tool in self.exempt or any(name[-1:] == "*" and tool.startswith(name[:-1]) for name in self.exempt)

    def identifying(self, tool: str, args: Any) -> Any:
        """The arguments that identify a call of *tool*."""
        names = self.identity.get(tool)
        if names is None or not isinstance(args, Mapping):
            return args
        return {name: args[name] for name in names if name in args}
