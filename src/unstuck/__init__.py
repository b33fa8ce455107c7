"""
Notices when an AI agent repeats itself without progress.

Everything public is loaded on first use: `import unstuck` reads this file alone, because a hook process pays for every
import on every tool call.
"""

# Type checkers take this name for true; importing it from typing would cost more than the rest of this file.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from unstuck.config import Options as Options
    from unstuck.errors import LoopStopped as LoopStopped
    from unstuck.errors import MissingDependencyError as MissingDependencyError
    from unstuck.errors import SettingsError as SettingsError
    from unstuck.errors import StateError as StateError
    from unstuck.errors import UnstuckError as UnstuckError
    from unstuck.events import Call as Call
    from unstuck.events import Compaction as Compaction
    from unstuck.events import Event as Event
    from unstuck.events import Message as Message
    from unstuck.events import Result as Result
    from unstuck.events import Retry as Retry
    from unstuck.events import RunEnd as RunEnd
    from unstuck.events import RunStart as RunStart
    from unstuck.events import Usage as Usage
    from unstuck.events import User as User
    from unstuck.findings import Decision as Decision
    from unstuck.findings import Finding as Finding
    from unstuck.findings import Level as Level
    from unstuck.monitor import Monitor as Monitor
    from unstuck.predicate import stop_when_repeated as stop_when_repeated
    from unstuck.presets import PRESETS as PRESETS
    from unstuck.presets import Rules as Rules
    from unstuck.presets import preset as preset
    from unstuck.watching import Watch as Watch
    from unstuck.watching import watch as watch

    __version__: str

__all__ = (
    "PRESETS",
    "Call",
    "Compaction",
    "Decision",
    "Event",
    "Finding",
    "Level",
    "LoopStopped",
    "Message",
    "MissingDependencyError",
    "Monitor",
    "Options",
    "Result",
    "Retry",
    "Rules",
    "RunEnd",
    "RunStart",
    "SettingsError",
    "StateError",
    "UnstuckError",
    "Usage",
    "User",
    "Watch",
    "__version__",
    "preset",
    "stop_when_repeated",
    "watch",
)

_HOMES = {
    "PRESETS": "presets",
    "Call": "events",
    "Compaction": "events",
    "Decision": "findings",
    "Event": "events",
    "Finding": "findings",
    "Level": "findings",
    "LoopStopped": "errors",
    "Message": "events",
    "MissingDependencyError": "errors",
    "Monitor": "monitor",
    "Options": "config",
    "Result": "events",
    "Retry": "events",
    "Rules": "presets",
    "RunEnd": "events",
    "RunStart": "events",
    "SettingsError": "errors",
    "StateError": "errors",
    "UnstuckError": "errors",
    "Usage": "events",
    "User": "events",
    "Watch": "watching",
    "preset": "presets",
    "stop_when_repeated": "predicate",
    "watch": "watching",
}


def __getattr__(name: str) -> object:
    value: object
    if name == "__version__":
        from importlib.metadata import version

        value = version("unstuck")
    elif name in _HOMES:
        from importlib import import_module

        value = getattr(import_module(f"unstuck.{_HOMES[name]}"), name)
    else:
        raise AttributeError(f"module 'unstuck' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
