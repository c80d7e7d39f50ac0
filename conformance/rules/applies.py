"""Whether a rule speaks at all here, and whether the evidence for it was recorded."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, Literal

from msgspec import Struct

from conformance.core.events import REQUEST_EVENTS, Fidelity, Request, Response
from conformance.core.framing import Framing
from conformance.rules.forms.compare import Compare
from conformance.rules.forms.gathered_side import Side
from conformance.rules.forms.timing import Timing
from conformance.rules.model import Rule
from conformance.rules.paths import MISSING, Getter, getter
from conformance.rules.patterns import (
    CHOICES,
    NO_REQUEST,
    REQUEST,
    Test,
    compile_value,
    fields_named,
    is_of_exchange,
    references,
    token,
)
from conformance.rules.verdicts import Verdict

_FRAMINGS: Final[Mapping[Framing, str]] = {
    "lines": "lines are",
    "text": "raw text is",
    "binary": "binary messages are",
    "body": "whole bodies are",
}
_FRAMES: Final = frozenset({"sse.frame", "line.frame", "element.frame", "binary.frame"})
REBUILT: Final = "the framing was rebuilt, not recorded"
"""Why a rule about framing says nothing of a recording of fidelity `events`."""
_FRAMING: Final = "framing"  # of a body, which its first bytes show
_LONGEST: Final = 256  # of a value that is part of a key

Refusal = tuple[Verdict, str]


class Evidence(Struct, frozen=True):
    """The recorded facts of an exchange besides its body.

    `framing` gives the framing of the bytes read so far, or None; `echo` the response's copy of
    request parameters so far, which never comes without `echoes`. `own_framing` is that of the
    API's streams. `role`, `hop`, `reported` (a client's report was recorded) and `declared` (the
    events that the client declares) decide what comparisons can use. `choice` is what its user
    chose. `prompt_texts` gives the texts of the request that are not the model's own.
    """

    request: Request | None = None
    response: Response | None = None
    fidelity: Fidelity = "bytes"
    clock: bool = False
    view: Literal["wire", "client"] = "wire"
    framing: Callable[[], Framing | None] = lambda: None
    own_framing: Framing = "sse"
    echo: Callable[[], Mapping[str, Any] | None] = lambda: None
    echoes: bool = True
    role: str = ""
    hop: str = ""
    reported: bool = False
    declared: frozenset[str] | None = None
    user_choices: Mapping[str, Any] | None = None
    prompt_texts: Callable[[], Iterable[str]] = tuple

    def is_side(self, side: Side) -> bool:
        """Whether a comparison uses this exchange in this view.

        Links between exchanges are found once all exchanges have been read.
        """
        if side.link:
            return False
        if (side.role or side.hop) and (side.role or self.role, side.hop or self.hop) != (
            self.role,
            self.hop,
        ):
            return False
        # Without roles the two views of one exchange are compared, and a report makes two views.
        return side.view == self.view and bool(side.role or side.hop or self.reported)

    def requested(self, path: str) -> Any:
        """What the request holds at `path` (`http.headers.x`: of its head), or MISSING."""
        if path.startswith("http."):
            return getter(path.removeprefix("http."))(self.head())
        body = self.body()
        return MISSING if body is None else getter(path)(body)

    def chosen(self, path: str) -> Any:
        """What the user of the client chose at `path`, or MISSING."""
        return MISSING if self.user_choices is None else getter(path)(self.user_choices)

    def spelled(self, text: str) -> bool:
        """Whether the request contains a text, outside of earlier answers of the model."""
        return any(text in each for each in self.prompt_texts())

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
        return {**self.response.as_event, _FRAMING: self.framing()}


def profile_excludes(rule: Rule, knobs: Mapping[str, Any]) -> str:
    """Why the profile rules it out; empty where it does not."""
    for path, pattern in rule.applies.profile:
        value = knobs.get(path, MISSING)
        if not compile_value(pattern, {})(value, knobs, NO_REQUEST):
            shown = "not promised" if value is MISSING else f"{value!r}"
            return f"the profile says {path} is {shown}"
    return ""


Lack = tuple[Callable[[Evidence], bool], str]


class Terms(Struct, frozen=True):
    """When one rule speaks, and which evidence it needs: compiled once per profile.

    `lacks` are reasons that make it UNTESTABLE, `echoed` the paths of the request that its
    patterns compare with, `choosing` is True where it hangs on what a client's user chose.
    `free`: on the wire there is nothing to ask.
    """

    rule: Rule
    neutral: bool  # it reads semantic events only
    request: tuple[tuple[str, Test], ...]
    response: tuple[tuple[str, Getter, Test], ...]
    stated: tuple[tuple[str, Getter, Test], ...]
    choice: tuple[tuple[str, Test], ...]
    choosing: bool
    lacks: tuple[Lack, ...]
    echoed: tuple[str, ...]
    free: bool
    sse_only: bool  # it names events of an event stream, but none of lines
    binary_only: bool  # it names binary messages alone
    of_event_streams: bool  # so it is, or it applies where profiles have such streams

    def excludes_early(self, evidence: Evidence) -> bool:
        """True where it is certain before the first event that the rule will not be judged."""
        if self.free and evidence.view == "wire":
            return False
        if self._wrong_view(evidence) or self._missing_evidence(evidence):
            return True
        form = self.rule.form
        if isinstance(form, Compare) and not (
            evidence.is_side(form.left) or evidence.is_side(form.right)
        ):
            return True
        if self._refused_by_choice(evidence) is not None:
            return True
        is_known = evidence.request is not None and evidence.request.json is not None
        is_refused = is_known and self._refused_by_request(evidence) is not None
        if is_refused or self._refused_by_response(evidence, early=True):
            return True
        return not isinstance(form, Compare) and self._is_unrecorded(evidence)

    def _is_unrecorded(self, evidence: Evidence) -> bool:
        """Whether it needs a head or a request that nothing to come will show."""
        if self.response and evidence.answered() is None:
            return True
        if evidence.echoes:
            return False
        return self._refused_by_request(evidence) is not None or bool(self._unrequested(evidence))

    def refuses(self, evidence: Evidence) -> Refusal | None:
        """Verdict and reason if the rule is not judged, else None; valid at the end only."""
        if self.free and evidence.view == "wire":
            return None
        if reason := self._wrong_view(evidence):
            return Verdict.NOT_APPLICABLE, reason
        refusals = (
            *(self._refused_by_choice, self._refused_by_request, self._refused_by_response),
            *(self._refused_by_statement, self._refused_by_framing),
        )
        for refused_by in refusals:
            if (refused := refused_by(evidence)) is not None:
                return refused
        reason = self._missing_evidence(evidence) or self._unrequested(evidence)
        return (Verdict.UNTESTABLE, reason) if reason else None

    def _wrong_view(self, evidence: Evidence) -> str:
        comparing = isinstance(self.rule.form, Compare)
        if self.rule.view == "client" and evidence.view == "wire" and not comparing:
            return "it judges what a client says it saw"
        if evidence.view == "wire" or self.rule.view == "client" or comparing:
            return ""
        return "" if self.neutral else "it judges the wire"

    def _refused_by_choice(self, evidence: Evidence) -> Refusal | None:
        if not self.choosing:
            return None
        if evidence.user_choices is None:
            return Verdict.UNTESTABLE, "what the user of the client chose was not recorded"
        for path, test in self.choice:
            if not test(evidence.chosen(path), {}, evidence):
                return Verdict.NOT_APPLICABLE, f"the {path} that was chosen rules it out"
        return None

    def _refused_by_request(self, evidence: Evidence) -> Refusal | None:
        for path, test in self.request:
            value = evidence.requested(path)
            if value is MISSING and not _is_recorded(evidence, path):
                return Verdict.UNTESTABLE, f"the request was not recorded ({path})"
            if not test(value, {}, evidence):
                whose = "request's" if _is_recorded(evidence, path) else "answer's own"
                return Verdict.NOT_APPLICABLE, f"the {whose} {path} rules it out"
        return None

    def _refused_by_response(self, evidence: Evidence, *, early: bool = False) -> Refusal | None:
        """`early`: by its head alone; how the body is framed shows later."""
        head = evidence.answered() if self.response else {}
        if head is None:
            return None if early else (Verdict.UNTESTABLE, "the response head was not recorded")
        for path, get, test in self.response:
            if not (early and path == _FRAMING) and not test(get(head), head, evidence):
                return Verdict.NOT_APPLICABLE, f"the response's {path} rules it out"
        return None

    def _refused_by_statement(self, evidence: Evidence) -> Refusal | None:
        if not self.stated:
            return None
        stated = evidence.echo() or {}
        for path, get, test in self.stated:
            if not test(get(stated), stated, evidence):
                return Verdict.NOT_APPLICABLE, f"the answer's own {path} rules it out"
        return None

    def _refused_by_framing(self, evidence: Evidence) -> Refusal | None:
        own, framing = evidence.own_framing, evidence.framing()
        if self.of_event_streams and "array" in (own, framing):
            return Verdict.NOT_APPLICABLE, "an array was asked for, or came"
        if self.sse_only and own != "sse" and framing != "sse":
            return Verdict.NOT_APPLICABLE, f"{_FRAMINGS[own]} the framing of this API"
        if self.binary_only and framing not in (None, "binary"):
            return Verdict.NOT_APPLICABLE, "no binary messages came"
        if self.sse_only and framing == "binary":
            return Verdict.NOT_APPLICABLE, "binary messages came, which wrap the events"
        return None

    def _missing_evidence(self, evidence: Evidence) -> str:
        return next((reason for missing, reason in self.lacks if missing(evidence)), "")

    def _unrequested(self, evidence: Evidence) -> str:
        """A pattern compares with the request, and neither it nor (by now) an echo is there."""
        for path in self.echoed:
            if evidence.requested(path) is MISSING and not _is_recorded(evidence, path):
                return f"the request was not recorded (request.{path})"
        return ""


class EvidenceKey:
    """What the terms of many rules ask of an exchange, as a key: equal keys, equal answers."""

    def __init__(self, every: Iterable[Terms]) -> None:
        request: set[str] = set()
        choices: set[str] = set()
        response: set[str] = set()
        stated: set[str] = set()
        for each in every:
            applies = each.rule.applies
            request |= {*each.echoed, *(path for path, _ in applies.request)}
            choices |= {path for path, _ in applies.user_choices}
            for into, conditions in ((response, applies.response), (stated, applies.stated)):
                for path, pattern in conditions:
                    into |= {path, *fields_named(pattern)}
            for pattern in applies.of_exchange():
                for name in filter(is_of_exchange, references(pattern)):
                    kind, _, path = name.partition(".")
                    (request if f"{kind}." == REQUEST else choices).add(path)
        self._request, self._choices = sorted(request), sorted(choices)
        self._response = [getter(path) for path in sorted(response)]
        self._stated = [getter(path) for path in sorted(stated)]
        # The same request is looked up before and after its answer, and many requests may be equal.
        self._latest: tuple[Request | None, list[object | None]] = (None, [])

    def _requested_values(self, evidence: Evidence) -> list[object | None]:
        """What the request says; the answer may repeat a part of it."""
        request, latest = evidence.request, self._latest
        if request is not None and request is latest[0]:
            return latest[1]
        requested = [_key_value(evidence.requested(path)) for path in self._request]
        if request is not None and isinstance(request.json, Mapping):  # all of it is its own
            self._latest = request, requested
        return requested

    def key(self, evidence: Evidence) -> object | None:
        """None where an answer is too large to be remembered."""
        request, answered = evidence.request, evidence.answered()
        values: list[Any] = []
        is_stated = request is not None or evidence.echo() is not None
        requested = self._requested_values(evidence) if is_stated else []
        if evidence.user_choices is not None:
            values += [evidence.chosen(path) for path in self._choices]
        if answered is not None:
            values += [get(answered) for get in self._response]
        values += [get(evidence.echo() or {}) for get in self._stated]
        plain = [*requested, *map(_key_value, values)]
        if None in plain:
            return None
        return (
            *(evidence.view, evidence.fidelity, evidence.clock, evidence.framing()),
            *(evidence.own_framing, evidence.role, evidence.hop, evidence.reported),
            *(request is None, request is None or request.json is None, evidence.echoes),
            *(evidence.user_choices is None, evidence.response is None, answered is None),
            *plain,
        )


def _key_value(value: Any) -> object | None:
    """A value as part of a key; None for a large one."""
    if value is None or value is MISSING or isinstance(value, str | int | float):
        return value.__class__, value
    spelled = token(value)
    return spelled if len(spelled) <= _LONGEST else None


def terms(rule: Rule, knobs: Mapping[str, Any]) -> Terms:
    """The terms of a rule under a profile's knobs. Raises PatternError for an unknown knob."""
    request = tuple((path, compile_value(v, knobs)) for path, v in rule.applies.request)
    response = tuple(
        (path, getter(path), compile_value(v, knobs)) for path, v in rule.applies.response
    )
    stated = tuple((path, getter(path), compile_value(v, knobs)) for path, v in rule.applies.stated)
    choice = tuple((path, compile_value(v, knobs)) for path, v in rule.applies.user_choices)
    named = _compared_names(rule)
    choosing = bool(choice) or any(name.startswith(CHOICES) for name in named)
    types = _event_types(rule)
    lacks = tuple(_terms_lacks(rule, types))
    echoed = tuple(n.removeprefix(REQUEST) for n in sorted(named) if n.startswith(REQUEST))
    binary_only = _is_binary_only(types)
    bound = request or response or stated or choosing or lacks or echoed or binary_only
    free = not bound and rule.view == "wire" and not isinstance(rule.form, Compare)
    sse_only = _is_sse_only(types)
    neutral = all(alias.layer == "semantic" for alias in rule.aliases.values())
    return Terms(
        *(rule, neutral, request, response, stated, choice, choosing, lacks, echoed, free),
        sse_only=sse_only,
        binary_only=binary_only,
        of_event_streams=sse_only or ("framing", "sse") in rule.applies.profile,
    )


def _event_types(rule: Rule) -> set[str]:
    return {kind for alias in rule.aliases.values() for kind in alias.types}


def _is_sse_only(types: set[str]) -> bool:
    names_sse = any(kind.startswith("sse.") or kind == "[DONE]" for kind in types)
    return names_sse and not any(kind.startswith(("line.", "binary.")) for kind in types)


def _is_binary_only(types: set[str]) -> bool:
    wired = types - {"http.end"}
    return bool(wired) and all(kind.startswith("binary.") for kind in wired)


def _terms_lacks(rule: Rule, types: set[str]) -> Iterator[Lack]:
    is_of_payloads = types >= _FRAMES  # in any framing, the payloads were recorded
    if not is_of_payloads and any(kind.startswith("sse.") or kind == "[DONE]" for kind in types):
        yield lambda e: e.fidelity == "events", REBUILT
    if _is_sse_only(types):
        yield lambda e: e.framing() == "lines", "lines came, not server-sent events"
    if "http.response" in types:
        yield lambda e: e.answered() is None, "the response head was not recorded"
    if types == {"http.end"}:
        yield lambda e: e.response is None, "how the stream ended was not recorded"
    if "http.request" in types:
        yield lambda e: e.request is None, "the request was not recorded"
    if REQUEST_EVENTS & types:
        yield lambda e: e.request is None or e.request.json is None, "the request was not recorded"
    if isinstance(rule.form, Timing):
        yield lambda e: not e.clock, "no clock was recorded"


def _compared_names(rule: Rule) -> set[str]:
    """Every `$name` that the patterns of its events compare with."""
    patterns = [v for alias in rule.aliases.values() for _, v in alias.conditions]
    return {name for pattern in patterns for name in references(pattern)}


def _is_recorded(evidence: Evidence, path: str) -> bool:
    """Whether the part of the request was recorded in which the path would stand."""
    request = evidence.request
    return request is not None and (path.startswith("http.") or request.json is not None)
