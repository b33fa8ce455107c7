"""
Everything that unstuck raises.

```
Exception
  UnstuckError                  catch this for anything that is wrong with input or settings
    SettingsError (ValueError)  an option that is out of range, contradictory or unreachable
    StateError                  saved state that cannot be taken up
    ReadError                   a trace that cannot be read
      LineError                 one line of it
      UnknownFormatError        nothing recognises the content
    MissingDependencyError (ImportError)  an extra that is not installed
BaseException
  LoopStopped                   a run was ended because it looped
```

`LoopStopped` is no `Exception` on purpose: frameworks and tools swallow exceptions and go on, and a stop that is swallowed
is no stop. Adapters derive a class from it together with what their framework lets through.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from unstuck.findings import Finding


class UnstuckError(Exception):
    """Anything that is wrong with what unstuck was given."""


class SettingsError(UnstuckError, ValueError):
    """
    An option is out of range, contradicts another, or could never have an effect.

    *field* is the option's dotted name, *value* what was given (`...` where that is nothing to show), *way_out* what to write instead.
    """

    def __init__(self, field: str, value: object, problem: str, way_out: str) -> None:
        self.field = field
        self.value = value
        self.problem = problem
        self.way_out = way_out
        given = field if value is ... else f"{field}={value!r}"
        super().__init__(f"{given}: {problem}; {way_out}")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.field, self.value, self.problem, self.way_out)


class StateError(UnstuckError):
    """Saved state is broken or was written by a newer version; *version* is what it claims to be."""

    def __init__(self, problem: str, version: object = None) -> None:
        self.problem = problem
        self.version = version
        super().__init__(problem)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.problem, self.version)


class ReadError(UnstuckError):
    """A trace cannot be read: *source* names the file, *problem* says why."""

    def __init__(self, source: str, problem: str) -> None:
        self.source = source
        self.problem = problem
        super().__init__(f"{source}: {problem}")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.source, self.problem)


class LineError(ReadError):
    """One line (1-based *line*) of a trace is broken or over the limit; the rest can still be read."""

    def __init__(self, source: str, line: int, problem: str) -> None:
        super().__init__(source, problem)
        self.line = line
        self.args = (f"{source}:{line}: {problem}",)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.source, self.line, self.problem)


class UnknownFormatError(ReadError):
    """No reader recognises the content of *source*."""


class MissingDependencyError(UnstuckError, ImportError):
    """A part of unstuck needs a package that is not installed; *extra* is what brings it."""

    def __init__(self, package: str, extra: str) -> None:
        self.package = package
        self.extra = extra
        super().__init__(f"this needs the package {package!r}, which is not installed: pip install 'unstuck[{extra}]'")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.package, self.extra)


class LoopStopped(BaseException):
    """
    A run was ended because the agent went round in circles; *finding* says which loop.

    The text holds the pattern, the tools and the count, never arguments or results.
    """

    def __init__(self, finding: Finding) -> None:
        self.finding = finding
        super().__init__(finding.record)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.finding,)
