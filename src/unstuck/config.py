"""
One options object, from Python, from the environment and from TOML.

Precedence, the first that names an option wins: arguments in Python (or on the command line), environment variables `UNSTUCK_*`,
`unstuck.toml`, `[tool.unstuck]` in `pyproject.toml`, the preset.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypedDict, Unpack, cast

from unstuck.detectors.detector import Detector
from unstuck.errors import SettingsError
from unstuck.findings import Level
from unstuck.kinds import KINDS, Kinds
from unstuck.ladder import Ladder, check_count
from unstuck.panel import Panel
from unstuck.policy import Policy
from unstuck.presets import Rules, preset
from unstuck.reading import Reading
from unstuck.wording import Wording
from unstuck.words import Words


class Settings(TypedDict, total=False):
    """Every option with its type; `docs/settings.md` describes them."""

    preset: str
    shadow: bool
    strongest: str
    ceiling: int
    window: int
    approved_repeats: int
    exempt: Sequence[str]
    identity: Mapping[str, Sequence[str]]
    kinds: Mapping[str, str]
    words: Mapping[str, Sequence[str]]
    detectors: Mapping[str, Any]
    plugins: Sequence[str]
    wording: Wording


class Options:
    """
    What to watch for and how far to go, validated when it is made.

    Args:
        preset: the rule set to start from (default `default`).
        shadow: only report (default false).
        strongest: `nudge`, `block` or `stop`: the strongest intervention (default `stop`).
        ceiling: identical exchanges that stop an unattended run, 10 to 1,000 (default 100).
        window: rounds that are looked back on, 8 to 1,024 (default 64); periods up to half of it are seen.
        approved_repeats: repeats that a person's approval of a call allows (default 3).
        exempt: tools that neither count nor break others' streaks; `name*` stands for all that begin so.
        identity: per tool the arguments that identify a call.
        kinds: per tool what it is: read, write, wait, talk, delegate, shell, other.
        words: additions to the word lists of `unstuck.words.Words`, by list.
        detectors: per pattern `None` (off), a `Ladder`, or a mapping of the rungs to change.
        plugins: names of third parties' detectors, from the entry points `unstuck.detectors`.
        wording: a function that words what the model reads.

    Raises `SettingsError` for anything that is no such value, contradicts another or could never have an effect.
    """

    def __init__(self, **settings: Unpack[Settings]) -> None:
        unknown = sorted(set(settings) - set(Settings.__annotations__))
        if unknown:
            value = cast("dict[str, Any]", settings)[unknown[0]]
            raise SettingsError(unknown[0], value, "there is no such option", f"known options are {_known()}")
        self.settings = settings
        self._rules = _rules(settings)

    def rules(self) -> Rules:
        """The rule set that these options describe."""
        return self._rules

    def __repr__(self) -> str:
        return f"Options({', '.join(f'{name}={value!r}' for name, value in self.settings.items())})"

    @classmethod
    def from_toml(cls, path: str | Path, **settings: Unpack[Settings]) -> Options:
        """The options in a TOML file (its `[tool.unstuck]` table if it is a `pyproject.toml`), under those given here."""
        found = toml_settings(Path(path))
        doors = {**_doors(found, str(path)), **_doors(settings, "")}
        return cls._through(doors, merged(found, settings))

    @classmethod
    def load(
        cls, directory: str | Path = ".", environ: Mapping[str, str] | None = None, **settings: Unpack[Settings]
    ) -> Options:
        """
        The options that hold in *directory*: arguments over *environ* over `unstuck.toml` over `pyproject.toml`.

        The files are looked for in *directory* and its parents; of each kind the nearest counts.
        """
        found = Settings()
        doors: dict[str, str] = {}
        for name in ("pyproject.toml", "unstuck.toml"):
            path = nearest(Path(directory), name)
            if path is not None:
                below = toml_settings(path)
                found = merged(found, below)
                doors |= _doors(below, str(path))
        variables = environment_settings(environ or {})
        doors |= {name: f"UNSTUCK_{name.upper()}" for name in variables}
        doors |= _doors(settings, "")
        return cls._through(doors, merged(merged(found, variables), settings))

    @classmethod
    def _through(cls, doors: Mapping[str, str], settings: Settings) -> Options:
        """The options; what is wrong with a setting is said in the words of the door that it came through."""
        try:
            return cls(**settings)
        except SettingsError as error:
            raise _worded(error, doors) from None


def _doors(settings: Settings, door: str) -> dict[str, str]:
    """Where each of *settings*, in tables each entry, comes from: a file, or Python where *door* is empty."""
    found: dict[str, str] = {}
    for name, value in settings.items():
        names = [f"{name}.{entry}" for entry in value] if isinstance(value, Mapping) else [name]
        found.update(dict.fromkeys(names, door))
    return found


_TOML = {'{"nudge": 3, "block": 5, "stop": 8}': "{ nudge = 3, block = 5, stop = 8 }", "None": '"off"', "a mapping": "a table"}
"""What a way out says in Python, and in a file."""


def _worded(error: SettingsError, doors: Mapping[str, str]) -> SettingsError:
    """*error* as somebody reads it who came through one of *doors*, which is named."""
    names = [name for name in doors if error.field == name or error.field.startswith(f"{name}.")]
    door = doors[max(names, key=len)] if names else ""
    if not door:
        return error
    value, way_out = error.value, error.way_out
    if not door.startswith("UNSTUCK_"):
        value = _with_off(value)
        for python, toml in _TOML.items():
            way_out = way_out.replace(python, toml)
    return SettingsError(error.field, value, f"{error.problem} (from {door})", way_out)


def merged(under: Settings, over: Settings) -> Settings:
    """*over* on top of *under*; tables are merged key by key."""
    result: dict[str, Any] = dict(under)
    for name, value in over.items():
        below = result.get(name)
        result[name] = {**below, **value} if isinstance(below, Mapping) and isinstance(value, Mapping) else value
    return cast("Settings", result)


def toml_settings(path: Path) -> Settings:
    """The settings in one TOML file; raises `SettingsError` where it cannot be read."""
    import tomllib

    try:
        data: Any = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SettingsError(str(path), ..., f"this file cannot be read: {error}", "correct it or remove it") from error
    if path.name == "pyproject.toml":
        tools = data.get("tool", {})
        data = tools.get("unstuck", {}) if isinstance(tools, dict) else {}
        if not isinstance(data, dict):
            raise SettingsError("tool.unstuck", data, f"a table is needed in {path}", "write the options below [tool.unstuck]")
    found: dict[str, Any] = {}
    for key, value in data.items():
        name = key.replace("-", "_")
        if name not in Settings.__annotations__ or name == "wording":
            problem = f"there is no such option in a file ({path})"
            raise SettingsError(key, value, problem, f"options in files are {_known(without='wording')}")
        if name in found:
            raise SettingsError(key, value, f"{path} gives it twice, with - and with _", "keep one of the two")
        found[name] = _without_off(value)
    return cast("Settings", found)


def _known(without: str = "") -> str:
    return ", ".join(sorted(set(Settings.__annotations__) - {without}))


def _without_off(value: Any) -> Any:
    """TOML has no null: the word `off` stands for it."""
    if value == "off":
        return None
    return {name: _without_off(item) for name, item in value.items()} if isinstance(value, dict) else value


def _with_off(value: Any) -> Any:
    """A value as it stands in a file."""
    if value is None:
        return "off"
    return {name: _with_off(item) for name, item in value.items()} if isinstance(value, Mapping) else value


_FROM_ENVIRONMENT = ("preset", "shadow", "strongest", "ceiling", "window", "approved_repeats", "exempt", "plugins")
_NO_SETTINGS = ("UNSTUCK_HOME", "UNSTUCK_TEST_")
"""Variables, or beginnings of them, that are for other parts."""


def environment_settings(environ: Mapping[str, str]) -> Settings:
    """
    The settings in `UNSTUCK_*` variables: numbers, `true`/`false`, names separated by commas.

    Raises `SettingsError` for a variable of that name that is no setting: it would be passed over in silence.
    """
    known = [f"UNSTUCK_{name.upper()}" for name in _FROM_ENVIRONMENT]
    for variable in sorted(environ):
        if variable.startswith("UNSTUCK_") and variable not in known and not variable.startswith(_NO_SETTINGS):
            way_out = f"unset it, or set one of {', '.join(known)}; tables belong in a file"
            raise SettingsError(variable, environ[variable], "there is no such setting in the environment", way_out)
    found: dict[str, Any] = {}
    for name in _FROM_ENVIRONMENT:
        text = environ.get(f"UNSTUCK_{name.upper()}")
        if text is not None:
            found[name] = _parsed(name, text.strip())
    return cast("Settings", found)


def _parsed(name: str, text: str) -> Any:
    variable = f"UNSTUCK_{name.upper()}"
    if name == "shadow":
        if text.lower() not in ("true", "false", "1", "0"):
            raise SettingsError(variable, text, "true or false is needed", "set it to true or false, or unset it")
        return text.lower() in ("true", "1")
    if name in ("ceiling", "window", "approved_repeats"):
        if not text.isdecimal():
            raise SettingsError(variable, text, "a whole number is needed", "set it to a whole number, or unset it")
        return int(text)
    return [part.strip() for part in text.split(",") if part.strip()] if name in ("exempt", "plugins") else text


def nearest(directory: Path, name: str) -> Path | None:
    """The file called *name* in *directory* or the nearest of its parents that has one."""
    for folder in (directory.resolve(), *directory.resolve().parents):
        if (folder / name).is_file():
            return folder / name
    return None


def _rules(settings: Settings) -> Rules:
    start = preset(settings.get("preset", "default"))
    detectors = _detectors((*start.detectors, *_plugins(settings.get("plugins", ()))), settings.get("detectors", {}))
    wording = settings.get("wording", start.wording)
    if wording is not None and not callable(wording):
        way_out = "give a function of the evidence, the level and the count that returns text, or None"
        raise SettingsError("wording", wording, "a function is needed", way_out)
    return Rules(Panel(detectors), _policy(settings, start.policy), _reading(settings, start.reading), wording, start.name)


def _policy(settings: Settings, start: Policy) -> Policy:
    try:
        return Policy(
            shadow=settings.get("shadow", start.shadow),
            strongest=_level(settings["strongest"]) if "strongest" in settings else start.strongest,
            ceiling=settings.get("ceiling", start.ceiling),
            one_per_round=start.one_per_round,
            consume=start.consume,
        )
    except SettingsError as error:
        raise SettingsError(error.field.removeprefix("policy."), error.value, error.problem, error.way_out) from None


def _level(name: Any) -> Level:
    if name not in ("nudge", "block", "stop"):
        raise SettingsError("strongest", name, "there is no such intervention", "give nudge, block or stop")
    return Level.named(name)


def _reading(settings: Settings, start: Reading) -> Reading:
    kinds = _table("kinds", settings.get("kinds", {}))
    for tool, kind in kinds.items():
        _check_pattern(f"kinds.{tool}", tool)
        if not isinstance(kind, str) or kind not in KINDS:
            raise SettingsError(
                f"kinds.{tool}", kind, "there is no such kind of tool", f"give one of {', '.join(sorted(KINDS))}"
            )
    lists = _table("words", settings.get("words", {}))
    for name in lists:
        if name not in Words._fields:
            raise SettingsError(
                f"words.{name}", lists[name], "there is no such list", f"extend one of {', '.join(Words._fields)}"
            )
    words = Words(**{name: frozenset(word.lower() for word in _names(f"words.{name}", given)) for name, given in lists.items()})
    identity = {
        tool: _names(f"identity.{tool}", names) for tool, names in _table("identity", settings.get("identity", {})).items()
    }
    for tool, given in identity.items():
        if "*" in tool:
            raise SettingsError(f"identity.{tool}", given, "`*` stands for nothing here", "name each tool in full")
    exempt = _names("exempt", settings.get("exempt", ()))
    for tool in exempt:
        _check_pattern("exempt", tool)
    return Reading(
        kinds=Kinds({**start.kinds.table, **kinds}, words),
        exempt=start.exempt | frozenset(exempt),
        identity={**start.identity, **identity},
        window=check_count("window", settings.get("window", start.window), 8, 1024),
        approved_repeats=check_count("approved_repeats", settings.get("approved_repeats", start.approved_repeats), 1, 1000),
        turns=start.turns,
    )


def _check_pattern(field: str, name: str) -> None:
    if "*" in name[:-1]:
        raise SettingsError(field, name, "`*` only stands for the end of a name", "write the beginning and one `*` after it")


def _table(field: str, value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping) or not all(isinstance(key, str) and key for key in value):
        raise SettingsError(field, value, "a table from names to values is needed", "give a mapping with text keys")
    return value


def _names(field: str, value: Any) -> tuple[str, ...]:
    if (
        isinstance(value, str)
        or not isinstance(value, Sequence | frozenset | set)
        or not all(isinstance(v, str) and v for v in value)
    ):
        raise SettingsError(field, value, "a list of names is needed", 'give a list such as ["name"]')
    return tuple(value)


def _detectors(start: tuple[Detector, ...], changes: Any) -> list[Detector]:
    changes = dict(_table("detectors", changes))
    result: list[Detector] = []
    for detector in start:
        change = changes.pop(detector.pattern, detector.ladder)
        if change is not None:
            result.append(_changed(detector, change))
    for pattern, given in changes.items():
        known = ", ".join(detector.pattern for detector in start)
        if not isinstance(given, Detector):
            raise SettingsError(f"detectors.{pattern}", given, "this rule set has no such detector", f"it has {known}")
        result.append(_of_pattern(pattern, given))
    return result


def _changed(detector: Detector, change: Any) -> Detector:
    field = f"detectors.{detector.pattern}"
    if isinstance(change, Detector):
        return _of_pattern(detector.pattern, change)
    if not isinstance(change, Ladder) and (not isinstance(change, Mapping) or not set(change) <= {"nudge", "block", "stop"}):
        way_out = 'give {"nudge": 3, "block": 5, "stop": 8}, leave some out, or give None to leave the detector out'
        raise SettingsError(field, change, "rungs are needed", way_out)
    try:
        ladder = change if isinstance(change, Ladder) else Ladder(**{**detector.ladder._asdict(), **change})
        return detector if ladder == detector.ladder else detector.with_ladder(ladder)
    except SettingsError as error:
        name = error.field.removeprefix(f"{detector.pattern}.")
        if name == "ladder":
            raise SettingsError(
                field, change, error.problem, "give None in place of the rungs to leave the detector out"
            ) from None
        raise SettingsError(f"{field}.{name}", error.value, error.problem, error.way_out) from None


def _of_pattern(pattern: str, given: Detector) -> Detector:
    if given.pattern != pattern:
        problem = f"this detector finds {given.pattern}"
        raise SettingsError(f"detectors.{pattern}", given, problem, f"give it as detectors.{given.pattern}")
    return given


def _plugins(names: Any) -> list[Detector]:
    wanted = _names("plugins", names)
    if not wanted:
        return []
    from importlib.metadata import entry_points

    found = {entry.name: entry for entry in entry_points(group="unstuck.detectors")}
    result: list[Detector] = []
    for name in dict.fromkeys(wanted):
        if name not in found:
            known = ", ".join(sorted(found)) or "none is installed"
            raise SettingsError("plugins", name, "no installed package brings this detector", f"known ones: {known}")
        try:
            made = found[name].load()()
        except Exception as error:
            problem = f"this entry point fails: {type(error).__name__}: {error}"
            raise SettingsError("plugins", name, problem, "repair or update its package, or leave it out") from error
        if not isinstance(made, Detector):
            raise SettingsError("plugins", name, "this entry point makes no Detector", "point it at a subclass of Detector")
        result.append(made)
    return result
