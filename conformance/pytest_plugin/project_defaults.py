"""`conformance.yaml` of the root folder, as far as it says something to pytest.

Rule 1: it counts last: the command line, markers, fixtures and pytest's own file win over it.
Rule 2: `profile`, `suites`, `expected-failures`, `strict` and `require-exercised` mean what they
mean to the command line; targets, recordings and reports have no part in a test run.
Rule 3: variables that a target's key or headers come from are secrets in every report.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from conformance.core.configuration import CONFIGURATION, configuration_in

if TYPE_CHECKING:
    import pytest

    from conformance.runs.project import Project

OPTIONS: Final = ("profile", "expected-failures", "strict", "require-exercised")
_SUITES: Final = "suites"
_CHANGING: Final = (*OPTIONS, _SUITES)
_HEADERS: Final = "headers"
_KEY: Final = "api-key-env"


def project_value(config: pytest.Config, name: str) -> Any:
    """Return the file's value of an option; None where it has none. Raises SpecError."""
    project = _config_project(config) if name in OPTIONS else None
    setting = project.settings.get(name) if project else None
    if setting is None:
        return None
    value = setting.value
    is_path = name == "profile" and isinstance(value, str) and value.endswith((".yaml", ".yml"))
    return str(config.rootpath / str(value)) if is_path else value


def project_suites(folder: Path) -> tuple[str, ...]:
    """Suites that judge where a test names none: paths are those of the file's folder."""
    project = _project_in(folder)
    setting = project.settings.get(_SUITES) if project else None
    names = setting.value if setting and isinstance(setting.value, tuple) else ()
    return tuple(str(folder / name) if (folder / name).exists() else name for name in names)


def project_secrets(config: pytest.Config) -> Iterator[str]:
    """Names of variables that the targets of the file send."""
    project = _config_project(config)
    for target in project.targets.values() if project else ():
        for key in (_KEY, _HEADERS):
            value = target.settings[key].value if key in target.settings else ()
            for each in (value,) if isinstance(value, str) else value:  # type: ignore[union-attr]  # names
                yield str(each).rpartition(": ")[2]


def changed_line(config: pytest.Config) -> str:
    """Return the line on keys of the file that may change a verdict; empty where there are none."""
    project = _config_project(config)
    named = [key for key in _CHANGING if project and key in project.settings]
    return f"{CONFIGURATION} sets {', '.join(named)}" if named else ""


def _config_project(config: pytest.Config) -> Project | None:
    return _project_in(config.rootpath)


def _project_in(folder: Path) -> Project | None:
    """None where there is no such file, which costs a project without one nothing."""
    if configuration_in(folder) is None:
        return None
    from conformance.runs.project import read_project  # noqa: PLC0415  # YAML

    return read_project(folder)
