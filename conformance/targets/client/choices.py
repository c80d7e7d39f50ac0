"""What a user can choose, put to a client: cases that need no recording.

Rule 1: what was chosen stands in the request, in whatever form the dialect has for it; `off`
stands nowhere, and a model that takes no effort is sent none.
Rule 2: which form it has to be, a client's profile promises: the rules of `effort/` and
`summary/request` look at the request beside what was chosen.
Rule 3: a level is changed in mid-session, after an answer that was asked for with another one.
Rule 4: where nothing is chosen, the default of the client stands or none, as its profile says.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Final

from conformance.core.events import Exchange, Request
from conformance.dialects import get, required
from conformance.dialects.client_cases import ClientCases
from conformance.judging import harness
from conformance.judging.result import StreamResult
from conformance.profiles.profile import Profile
from conformance.targets.client.adapter import Told
from conformance.targets.client.asking import AGAIN, HELLO, OPT_IN, chosen
from conformance.targets.client.judging import ClientLedger, Judging, asked, error, result
from conformance.targets.client.models import ANY, differing, matching
from conformance.targets.client.protocol import NEXT_REQUEST, STREAM
from conformance.targets.client.smoke import ANSWER, answered, short
from conformance.targets.client.station import Station
from conformance.targets.client.visit import BODIES, Tally

EFFORTS: Final = ("low", "medium", "high", "max")
SUMMARIES: Final = ("auto", "concise", "detailed")
OFF: Final = "off"
_BEFORE: Final = "low"
_AFTER: Final = "high"
_TRUE: Final = frozenset({"1", "true", "yes"})
_RULES: Final = {"role": "system", "content": "Answer in one sentence."}


@dataclass(frozen=True, slots=True)
class Choice:
    """What is chosen, of which model, and the paths of the request where it has to stand.

    `before` is what was chosen for the answer that it comes after.
    """

    name: str
    options: Mapping[str, Any]
    at: tuple[str, ...] = ()
    header: str = ""
    model: str = ANY
    messages: tuple[Mapping[str, Any], ...] = (HELLO,)
    before: Mapping[str, Any] = field(default_factory=dict)

    def said(self) -> dict[str, Any]:
        """`model`, `messages` and `options` of the command."""
        messages = [dict(entry) for entry in self.messages]
        return {"model": self.model, "messages": messages, "options": dict(self.options)}

    def stands_in(self, request: Request) -> bool:
        """Whether the request holds it in any form; true of what is to stand nowhere."""
        if self.header:
            values = [v for name, v in request.headers if name.lower() == self.header]
            return any(value.strip().lower() in _TRUE for value in values)
        return not self.at or any(_at(request.json, path) is not None for path in self.at)


def choices(profile: Profile) -> Iterator[Choice]:
    """Everything that the API of a dialect lets a user choose, by the profile's own models."""
    # The order stands: a finding's id has the number of its case.
    takers = list(_takers(profile))
    form, at = get(profile.dialect).request, _cases(profile).effort_paths
    for model in takers[:1]:
        yield from _efforts("effort", model, at)
        if form and form.summary:
            yield from _summaries(model, form.summary)
    if form and form.opts_in_by_header:
        yield Choice("opt-in", {"include_thinking": True}, header=OPT_IN)
    for model in takers[1:]:
        yield from _efforts("adaptive-effort", model, at)
    for model in takers:
        yield from _instructed(model, at)
        yield Choice(f"changed-{model}", {"effort": _AFTER}, at, model=model, before=_LOW)
    yield from _of_others(profile)
    # Rule 4, of models that take effort and of one that does not.
    for model in (*takers, *islice(differing(profile, "effort_models"), 1)):
        yield Choice(f"default-{model}", {}, model=model)


_LOW: Final = {"effort": _BEFORE}


def _efforts(name: str, model: str, at: tuple[str, ...]) -> Iterator[Choice]:
    for level in EFFORTS:
        yield Choice(f"{name}-{level}", {"effort": level}, at, model=model)


def _summaries(model: str, path: str) -> Iterator[Choice]:
    for kind in SUMMARIES:
        # Without effort some servers neither think nor summarise.
        options = {"effort": "low", "summary": kind}
        yield Choice(f"summary-{kind}", options, (path,), model=model)


def _instructed(model: str, at: tuple[str, ...]) -> Iterator[Choice]:
    """With a system prompt, whose role may change with the level."""
    talk = (_RULES, HELLO)
    high = {"effort": _AFTER}
    yield Choice(f"instructed-{model}", high, at, model=model, messages=talk)
    yield Choice(f"instructed-off-{model}", {"effort": OFF}, model=model, messages=talk)


def _cases(profile: Profile) -> ClientCases:
    return required(get(profile.dialect).client, profile.dialect, "cases of clients")


def _takers(profile: Profile) -> Iterator[str]:
    """A model that takes effort; of Messages one that takes a budget, and one that decides."""
    names = list(matching(profile, "effort_models"))
    own = _cases(profile).own_models
    if own:
        names.sort(key=lambda name: name != ANY and not name.startswith(own))
    adaptive = set(matching(profile, "adaptive_models"))
    yield from [name for name in names if name not in adaptive][:1]
    yield from [name for name in names if name in adaptive][:1]


def _of_others(profile: Profile) -> Iterator[Choice]:
    """Of a model that takes no effort, where the client tells models apart."""
    for model in islice(differing(profile, "effort_models"), 1):
        for level in (OFF, *EFFORTS):
            talk = (_RULES, HELLO) if level == OFF else (HELLO,)
            yield Choice(f"other-model-{level}", {"effort": level}, model=model, messages=talk)


def choose(
    station: Station, judging: Judging, tally: Tally, sent: list[Exchange]
) -> Iterator[StreamResult]:
    """The requests that a client would send for every choice, judged; `sent` takes them."""
    if NEXT_REQUEST not in station.about.ops:
        return
    dialect = judging.dialect.name
    for number, choice in enumerate(choices(judging.profile), 1):
        told = _asked(station, dialect, choice)
        tally.count(NEXT_REQUEST, dialect, told)
        where = f"choices/{choice.name}/{number}/client"
        place = Exchange(number=number, scenario="choices", role=choice.name, dialect=dialect)
        if told.how == "skipped":
            note = f"not run: the client skips it: {told.why}"
            yield result(judging, place, ClientLedger(), (note,))
        elif told.request is None:
            yield result(judging, place, error(where, told))
        else:
            like = answered(dialect)
            made = asked(told.request, number, choice.name, like, chosen(choice.said()))
            sent.append(made)
            yield result(judging, place, _judged(judging, choice, made, told.request, where))


def _asked(station: Station, dialect: str, choice: Choice) -> Told:
    said = choice.said()
    if not choice.before:
        return station.next_request(dialect, said)
    if STREAM not in station.about.ops or BODIES in station.about.features:
        history = [*said["messages"], {"role": "assistant", "content": ANSWER}, dict(AGAIN)]
        return station.next_request(dialect, {**said, "messages": history})
    first = {**said, "options": dict(choice.before)}
    told, _, seq = station.stream(short(dialect), dialect, first)
    if told.how != "completed":
        return told
    return station.next_request(dialect, said, seq, [dict(AGAIN)])


def _judged(
    judging: Judging, choice: Choice, made: Exchange, request: Request, where: str
) -> ClientLedger:
    verdicts = judging.requests([made])
    found = None
    if not choice.stands_in(request):
        expected = choice.header or " or ".join(choice.at)
        found = harness.client_finding(harness.NEXT_REQUEST, where, expected, "none of it")
    verdicts.state(harness.NEXT_REQUEST, found)
    return verdicts


def _at(value: Any, path: str) -> Any:
    for key in path.split("."):
        value = value.get(key) if isinstance(value, Mapping) else None
    return value
