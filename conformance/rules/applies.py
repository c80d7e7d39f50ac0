"""Whether a rule speaks at all here, and whether the evidence for it was recorded."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from conformance.events import Request, Response
from conformance.rules.model import Compare, Rule, Side, Timing
from conformance.rules.paths import MISSING, getter
from conformance.rules.patterns import compile_value, references
from conformance.rules.verdicts import Verdict

_UNKNOWN_END = "how the stream ended was not recorded"

Fidelity = Literal["bytes", "text", "events"]


@dataclass(frozen=True, slots=True)
class Evidence:
    """What was recorded of an exchange besides its body.

    `echo` gives the response's own copy of request parameters, as far as seen, or None. `role`,
    `hop` and `reported` (a client's report was recorded) decide what comparisons can take from it,
    and `declared`, the events that the client says it reports.
    """

    request: Request | None = None
    response: Response | None = None
    fidelity: Fidelity = "bytes"
    clock: bool = False
    view: Literal["wire", "client"] = "wire"
    echo: Callable[[], Mapping[str, Any] | None] = lambda: None
    role: str = ""
    hop: str = ""
    reported: bool = False
    declared: frozenset[str] | None = None

    def is_side(self, side: Side) -> bool:
        """Whether a comparison takes something from this exchange, seen in this view."""
        if (side.role or side.hop) and (side.role or self.role, side.hop or self.hop) != (
            self.role,
            self.hop,
        ):
            return False
        # Without roles the two views of one exchange are compared, and a report makes two views.
        return side.view == self.view and bool(side.role or side.hop or self.reported)

    def asked(self, path: str) -> Any:
        """What the request holds at `path` (`http.headers.x`: of its head), or MISSING."""
        if path.startswith("http."):
            return getter(path.removeprefix("http."))(self.head())
        body = self.body()
        return MISSING if body is None else getter(path)(body)

    def head(self) -> Mapping[str, Any]:
        if self.request is None:
            return {}
        headers = {name.lower(): value for name, value in self.request.headers}
        return {"method": self.request.method, "path": self.request.path, "headers": headers}

    def body(self) -> Mapping[str, Any] | None:
        if self.request is not None and isinstance(self.request.json, Mapping):
            return self.request.json
        return self.echo()

    def answered(self) -> Mapping[str, Any] | None:
        """The response head as a map, None where it was not recorded."""
        if self.response is None or self.response.status is None:
            return None
        headers = {name.lower(): value for name, value in self.response.headers}
        return {"status": self.response.status, "http": self.response.http, "headers": headers}


def profile_excludes(rule: Rule, knobs: Mapping[str, Any]) -> str:
    """Why the profile rules it out; empty where it does not."""
    for path, pattern in rule.applies.profile:
        value = knobs.get(path, MISSING)
        if not compile_value(pattern, {})(value, knobs, _Nobody()):
            shown = "not promised" if value is MISSING else f"{value!r}"
            return f"the profile says {path} is {shown}"
    return ""


class _Nobody:
    def asked(self, path: str) -> Any:  # noqa: ARG002  # a profile knows no request
        return MISSING


class Applicability:
    """Judges `applies` of one exchange: early where possible, at the end where an echo decides."""

    def __init__(self, evidence: Evidence, knobs: Mapping[str, Any]) -> None:
        self.evidence = evidence
        self.knobs = knobs

    def asked(self, path: str) -> Any:
        return self.evidence.asked(path)

    def excludes_early(self, rule: Rule) -> bool:
        """True where it is certain before the first event that the rule will not be judged."""
        if self._wrong_view(rule) or self._lacking(rule):
            return True
        form = rule.form
        if isinstance(form, Compare) and not (
            self.evidence.is_side(form.left) or self.evidence.is_side(form.right)
        ):
            return True
        known = self.evidence.request is not None and self.evidence.request.json is not None
        return known and self._refused_by_request(rule) is not None

    def refuses(self, rule: Rule) -> tuple[Verdict, str] | None:
        """Verdict and reason where the rule is not judged, else None."""
        if reason := self._wrong_view(rule):
            return Verdict.NOT_APPLICABLE, reason
        if (refused := self._refused_by_request(rule)) is not None:
            return refused
        if (refused := self._refused_by_response(rule)) is not None:
            return refused
        reason = self._lacking(rule) or self._unasked(rule)
        return (Verdict.UNTESTABLE, reason) if reason else None

    def _wrong_view(self, rule: Rule) -> str:
        comparing = isinstance(rule.form, Compare)
        if rule.view == "client" and self.evidence.view == "wire" and not comparing:
            return "it judges what a client says it saw"
        if self.evidence.view == "wire" or rule.view == "client" or comparing:
            return ""
        neutral = all(alias.layer == "semantic" for alias in rule.aliases.values())
        return "" if neutral else "it judges the wire"

    def _refused_by_request(self, rule: Rule) -> tuple[Verdict, str] | None:
        for path, pattern in rule.applies.request:
            value = self.asked(path)
            if value is MISSING and not self._recorded(path):
                return Verdict.UNTESTABLE, f"the request was not recorded ({path})"
            if not compile_value(pattern, self.knobs)(value, {}, self):
                return Verdict.NOT_APPLICABLE, f"the request's {path} rules it out"
        return None

    def _refused_by_response(self, rule: Rule) -> tuple[Verdict, str] | None:
        if not rule.applies.response:
            return None
        head = self.evidence.answered()
        if head is None:
            return Verdict.UNTESTABLE, "the response head was not recorded"
        for path, pattern in rule.applies.response:
            if not compile_value(pattern, self.knobs)(getter(path)(head), head, self):
                return Verdict.NOT_APPLICABLE, f"the response's {path} rules it out"
        return None

    def _lacking(self, rule: Rule) -> str:
        types = {kind for alias in rule.aliases.values() for kind in alias.types}
        framed = any(kind.startswith("sse.") or kind == "[DONE]" for kind in types)
        request, head = self.evidence.request, self.evidence.answered()
        unread = request is None or request.json is None
        lacks = (
            (
                framed and self.evidence.fidelity == "events",
                "the framing was rebuilt, not recorded",
            ),
            ("http.response" in types and head is None, "the response head was not recorded"),
            (types == {"http.end"} and self.evidence.response is None, _UNKNOWN_END),
            ("http.request" in types and request is None, "the request was not recorded"),
            (bool({"request", "request.item"} & types) and unread, "the request was not recorded"),
            (isinstance(rule.form, Timing) and not self.evidence.clock, "no clock was recorded"),
        )
        return next((reason for missing, reason in lacks if missing), "")

    def _unasked(self, rule: Rule) -> str:
        """A pattern compares with the request, and neither it nor (by now) an echo is there."""
        patterns = [v for alias in rule.aliases.values() for _, v in alias.conditions]
        wanted = sorted({name for p in patterns for name in references(p)})
        for name in wanted:
            path = name.removeprefix("request.")
            if path != name and self.asked(path) is MISSING and not self._recorded(path):
                return f"the request was not recorded ({name})"
        return ""

    def _recorded(self, path: str) -> bool:
        """Whether the part of the request was recorded in which the path would stand."""
        request = self.evidence.request
        return request is not None and (path.startswith("http.") or request.json is not None)
