"""What stands about unstuck in a coding agent's settings: entering it, taking it out, telling how it stands."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from unstuck.errors import UnstuckError
from unstuck.hooks import jsonc

if TYPE_CHECKING:
    from unstuck.hooks.dialect import Dialect


class RefusedError(UnstuckError):
    """A settings file that cannot be edited without breaking something; it was not touched."""


def is_blank(text: str) -> bool:
    """Whether *text* holds nothing, a byte-order mark aside."""
    return not text.strip("\ufeff \t\r\n")


def entered(text: str | None, agent: str, module: Dialect, command: str) -> str:
    """
    *text* with the hooks of *agent* running *command*; `None` and blank text make a new file.

    What stands there already for unstuck is taken out first. Raises `RefusedError` where the text is no settings file.
    """
    groups = {event: [_group(module, command)] for event in module.EVENTS}
    if text is None or is_blank(text):
        return json.dumps({"hooks": groups}, indent=2) + "\n"
    text = without(text, agent)
    root = _root(text)
    hooks = root.child("hooks")
    if hooks is None:
        return jsonc.insert(text, root, groups, "hooks")
    for event, group in groups.items():
        root = _root(text)
        node = root.children[root.child("hooks") or 0]
        place = node.child(event)
        into = (node, group, event) if place is None else (node.children[place], group[0], None)
        text = jsonc.insert(text, *into)
    return text


def without(text: str, agent: str) -> str:
    """*text* without the hooks of *agent* that are ours, nor what only held them; others stay. Raises `RefusedError`."""
    while True:
        root = _root(text)
        found = next(_ours(root, agent), None)
        if found is None:
            return text
        path, _ = found
        nodes = [root]
        for index in path[:-1]:
            nodes.append(nodes[-1].children[index])
        depth = len(path) - 1
        # A group, an event or a table of hooks that held nothing else goes with its last hook.
        while depth > 0 and _holds_only(text, nodes, path, depth):
            depth -= 1
        text = jsonc.remove(text, nodes[depth], path[depth])


def commands(text: str, agent: str) -> dict[str, list[str]]:
    """Our commands by event. Raises `RefusedError`."""
    root = _root(text)
    hooks: Mapping[str, Any] = root.value.get("hooks", {})
    found: dict[str, list[str]] = {event: [] for event in hooks}
    for path, command in _ours(root, agent):
        node = root.children[path[0]]
        found[node.keys[path[1]]].append(command)
    return {event: ours for event, ours in found.items() if ours}


def _holds_only(text: str, nodes: list[jsonc.Node], path: list[int], depth: int) -> bool:
    """Whether the node at *depth* of the way to one of our hooks holds nothing but that, comments included."""
    node = nodes[depth]
    if len(nodes) - depth == 2 and "hooks" in node.keys:
        return True  # a group: its other fields only describe its hooks, and whether it has others was asked one step below
    around = text[node.start + 1 : node.places[path[depth]]] + text[node.children[path[depth]].end : node.end - 1]
    return not around.strip(", \t\r\n")


def _group(module: Dialect, command: str) -> dict[str, Any]:
    return {"hooks": [{"type": "command", "command": command, **module.ENTRY}]}


def _root(text: str) -> jsonc.Node:
    try:
        root = jsonc.parse(text)
    except ValueError as error:
        raise RefusedError(f"it is no JSON ({error}); correct it and try again") from None
    except RecursionError:
        raise RefusedError("it is nested too deeply to be edited") from None
    if not isinstance(root.value, dict):
        raise RefusedError("it holds no JSON object; correct it and try again")
    hooks = root.value.get("hooks", {})
    place = root.child("hooks")
    for node, names in ((root, ["hooks"]), *([(root.children[place], list(hooks))] if place is not None and hooks else [])):
        twice = next((name for name in names if node.keys.count(name) > 1), None)
        if twice is not None:
            raise RefusedError(f'it holds "{twice}" twice; remove one and try again')
    if not isinstance(hooks, dict) or not all(isinstance(groups, list) for groups in hooks.values()):
        raise RefusedError('its "hooks" are not a table of lists; correct that and try again')
    return root


def _ours(root: jsonc.Node, agent: str) -> Iterator[tuple[list[int], str]]:
    """The way to each hook of ours (hooks, event, group, its hooks, hook), and its command."""
    table = root.child("hooks")
    if table is None:
        return
    for event, groups in enumerate(root.children[table].children):
        for place, group in enumerate(groups.children):
            inner = group.child("hooks")
            if inner is None:
                continue
            for number, hook in enumerate(group.children[inner].children):
                command = hook.value.get("command") if isinstance(hook.value, dict) else None
                if isinstance(command, str) and _is_ours(command, agent):
                    yield [table, event, place, inner, number], command


def _is_ours(command: str, agent: str) -> bool:
    words = command.split()
    return words[-3:] == ["hook", "run", agent] and "unstuck" in command
