"""`conformance.yaml` as defaults of options: which verb takes which key, and where that is noted.

Rule 1: the command line wins; `--no-config` leaves the file unread.
Rule 2: a target of the file is used only if the command line names it and no other target. Its
command, its URL and its variables apply to that target alone, and stderr announces them.
Rule 3: defaults that may change verdicts are named: in the report if there is one, else on stderr.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Final

from conformance.cli.plain_values import PlainCommand
from conformance.core.configuration import CONFIGURATION, configuration_in, leave_unread
from conformance.core.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from conformance.runs.project import Project, ProjectTarget, Setting

_JUDGING: Final = ("check", "run", "baseline", "report", "diff", "watch", "corpus check")
_PROFILED: Final = (*_JUDGING, "record", "mutate", "corpus inspect")
# Key of the file -> the parameter of a verb, and the verbs that take it.
_DEFAULTS: Final[Mapping[str, tuple[str, Sequence[str]]]] = {
    "recordings": ("paths", ("check", "baseline")),
    "suites": ("suite", (*_JUDGING, "explain", "list")),
    "profile": ("profile", _PROFILED),
    "expected-failures": ("expected_failures", ("check", "run")),
    "strict": ("strict", ("check", "run")),
    "require-exercised": ("require_exercised", ("check", "run")),
    "reports": ("outputs", ("check", "run")),
}
# Key of a target -> the parameter of `run` and `record`.
_OF_TARGETS: Final[Mapping[str, str]] = {
    "asgi": "asgi_app",
    "app": "app_url",
    "pass": "passed",
    "cassettes": "cassette",
    "scenarios": "scenario",
    "headers": "header_env",
}
_ASKING: Final = ("run", "record")
_NAMED: Final = (
    *("url", "asgi_app", "gateway", "app_url", "agent", "client"),
    *("proxy", "upstream"),
)
"""Parameters by which the command line names what to ask."""
_CHANGING: Final = ("profile", "suites", "expected-failures")
"""Keys that may change the verdict on a recording."""
_REPORTING: Final = ("check", "run")
_ALONE: Final = frozenset({("list", "system")})
"""Verbs, and a parameter of theirs with which no default goes."""

_changed: ContextVar[tuple[str, ...]] = ContextVar("keys of the file that change verdicts")


class ConfiguredCommand(PlainCommand):
    """A verb whose options have defaults in `conformance.yaml`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        typed = self._typed(ctx, args)
        if not (ctx.resilient_parsing or typed.get("help")):
            if typed.get("no_config"):
                leave_unread()
            ctx.default_map = self._defaults(ctx, typed)
        return super().parse_args(ctx, args)

    def _typed(self, ctx: Any, args: list[str]) -> dict[str, Any]:
        """What the command line names, by parameter; a parser has a word for absent arguments."""
        found, _, _ = self.make_parser(ctx).parse_args(args=list(args))
        return {
            k: v
            for k, v in found.items()
            if isinstance(v, str | bool | int | list | tuple) and v != ()
        }

    def _defaults(self, ctx: Any, typed: Mapping[str, Any]) -> dict[str, Any]:
        verb = ctx.command_path.partition(" ")[2]
        settings = project_settings(verb, typed)
        known = {each.name: each for each in self.params}
        found: dict[str, Any] = {}
        for parameter, setting in settings.items():
            option = known.get(parameter)
            if option is None or parameter in typed:
                continue
            value = setting.value
            if parameter == "expected_failures" and not (_current_folder() / str(value)).is_file():
                raise UsageError(f"no such file: {value!r}", place=setting.place)
            takes_several = getattr(option, "multiple", False) or option.nargs == -1
            if isinstance(value, tuple) and not takes_several:
                if len(value) != 1:
                    message = f"{verb} takes one {parameter}, this names {len(value)}"
                    raise UsageError(message, place=setting.place)
                value = value[0]
            found[parameter] = value
        return found


def project_settings(verb: str, typed: Mapping[str, Any]) -> dict[str, Setting]:
    """Defaults by the names of parameters, of all that the verb takes; as the rules above."""
    _changed.set(())
    if configuration_in(_current_folder()) is None or any((verb, name) in _ALONE for name in typed):
        return {}
    from conformance.runs.project import own_suites, read_project  # noqa: PLC0415  # YAML

    project = read_project(_current_folder())
    found = {
        parameter: project.settings[key]
        for key, (parameter, verbs) in _DEFAULTS.items()
        if key in project.settings and verb in verbs
    }
    if verb == "test" and (own := tuple(own_suites(project))):
        from msgspec.structs import replace  # noqa: PLC0415  # as above

        found["suites"] = replace(project.settings["suites"], value=own)
    if verb in _ASKING:
        found |= _target_settings(project, typed)
    used = found.keys() - typed.keys()
    _note_changing(
        verb, [key for key in _CHANGING if _DEFAULTS[key][0] in used & _verdict_parameters(found)]
    )
    return found


def _verdict_parameters(found: Mapping[str, Setting]) -> set[str]:
    """Parameters whose defaults may change a verdict; rules added to the shipped ones never do."""
    from conformance.judging.suites import ALL_SHIPPED  # noqa: PLC0415  # help needs none

    def adds_only(setting: Setting) -> bool:
        return isinstance(setting.value, tuple) and ALL_SHIPPED in setting.value

    return {name for name, each in found.items() if name != "suite" or not adds_only(each)}


def _current_folder() -> Path:
    from pathlib import Path  # noqa: PLC0415  # help needs none

    return Path()


def _target_settings(project: Project, typed: Mapping[str, Any]) -> dict[str, Setting]:
    """Rule 2."""
    if any(name in typed for name in _NAMED):
        return {}
    known = ", ".join(project.targets)
    if "target" not in typed:
        if known:
            hint = f"{CONFIGURATION} has {known}: --target NAME"
            raise UsageError("the call names nothing to ask", hint=hint)
        return {}
    target = project.targets.get(str(typed["target"]))
    if target is None:
        from conformance.rules.node import nearest  # noqa: PLC0415  # errors alone need it

        name = str(typed["target"])
        hint = nearest(name, project.targets) or f"it has {known or 'none'}"
        raise UsageError(f"{CONFIGURATION} has no target {name!r}", hint=hint)
    _show_target(target)
    return {
        _OF_TARGETS.get(key, key.replace("-", "_")): setting
        for key, setting in target.settings.items()
    }


def _show_target(target: ProjectTarget) -> None:
    from conformance.cli.terminal import warn  # noqa: PLC0415  # help needs none
    from conformance.report.printable import visible  # noqa: PLC0415  # as above

    warn(visible(f"{target.place}: {target.name}: {'; '.join(_target_facts(target))}", 400))


def _target_facts(target: ProjectTarget) -> Iterator[str]:
    from conformance.runs.project import KINDS_OF_TARGETS  # noqa: PLC0415  # loaded by now

    for key in KINDS_OF_TARGETS:
        if key in target.settings:
            yield f"{key} {target.settings[key].value}"
    sent = [target.settings[key].value for key in ("api-key-env",) if key in target.settings]
    headers = target.settings.get("headers")
    lines = headers.value if headers is not None and isinstance(headers.value, tuple) else ()
    sent += [line.partition(": ")[2] for line in lines]
    if sent:
        yield f"sends {', '.join(f'${name}' for name in sent)}"
    passed = target.settings.get("pass")
    if passed is not None and isinstance(passed.value, tuple):
        yield f"passes {', '.join(f'${name}' for name in passed.value)}"


def _note_changing(verb: str, keys: Sequence[str]) -> None:
    """Rule 3."""
    if not keys:
        return
    _changed.set(tuple(keys))
    if verb not in _REPORTING and verb in (*_JUDGING, "mutate"):
        from conformance.cli.terminal import warn  # noqa: PLC0415  # help needs none

        warn(f"note: {changed_note()}")


def changed_note() -> str:
    """What of the file may change verdicts of this call, in one sentence; empty where nothing."""
    keys = _changed.get(())
    return f"{CONFIGURATION} sets {', '.join(keys)} (--no-config judges without)" if keys else ""
