"""Choices of a user, given to a client: cases that need no recording.

Rule 1: the request has the choice in any form of the dialect; `off` appears nowhere, and a model
without effort gets none.
Rule 2: a client's profile promises which form it uses: the rules of `effort/` and
`summary/request` compare the request with the choice.
Rule 3: a level changes in mid-session, after an answer with another level.
Rule 4: without a choice, the request has the client's default or nothing, by its profile.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, Final

from msgspec import Struct, field

from conformance.core.events import Exchange, Request
from conformance.core.json_values import value_at
from conformance.dialects import get, required
from conformance.dialects.client_cases import ClientCases
from conformance.dialects.requests import OPT_IN, opts_in
from conformance.judging import harness
from conformance.judging.consequences import withdraw_unsent_wishes
from conformance.judging.result import StreamResult
from conformance.profiles.profile import Profile
from conformance.targets.client.adapter import AdapterAnswer
from conformance.targets.client.case_results import CaseSeries
from conformance.targets.client.client_judge import (
    ClientJudge,
    ClientLedger,
    client_place,
    no_answer,
    request_exchange,
)
from conformance.targets.client.conversation import (
    AGAIN,
    ANY,
    HELLO,
    in_form_of,
    models_matching,
    user_choices_in,
)
from conformance.targets.client.exchange_replays import BODIES
from conformance.targets.client.protocol import NEXT_REQUEST, STREAM
from conformance.targets.client.replay_endpoint import (
    ANSWER,
    ReplayEndpoint,
    short_answer,
    short_variation,
)

EFFORTS: Final = ("low", "medium", "high", "max")
SUMMARIES: Final = ("auto", "concise", "detailed")
OFF: Final = "off"
_BEFORE: Final = "low"
_AFTER: Final = "high"
_RULES: Final = {"role": "system", "content": "Answer in one sentence."}


class UserChoice(Struct, frozen=True):
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

    def command(self, dialect: str) -> dict[str, Any]:
        """`model`, `messages` and `options` of the command."""
        messages = [in_form_of(dialect, entry) for entry in self.messages]
        return {"model": self.model, "messages": messages, "options": dict(self.options)}

    def stands_in(self, request: Request) -> bool:
        """Whether the request holds it in any form; true of what is to stand nowhere."""
        if self.header:
            return opts_in(request)
        return not self.at or any(
            value_at(request.json, *path.split(".")) is not None for path in self.at
        )


def user_choices(profile: Profile) -> Iterator[UserChoice]:
    """Everything that the API of a dialect lets a user choose, by the profile's own models."""
    # The order stands: a finding's id has the number of its case.
    takers = list(_models_taking_effort(profile))
    form, at = get(profile.dialect).request, _cases(profile).effort_paths
    for model in takers[:1]:
        yield from _effort_choices("effort", model, at)
        if form and form.summary:
            yield from _summary_choices(model, form.summary)
    if form and form.opts_in_by_header:
        yield UserChoice("opt-in", {"include_thinking": True}, header=OPT_IN)
    for model in takers[1:]:
        yield from _effort_choices("adaptive-effort", model, at)
    for model in takers:
        yield from _instructed_choices(model, at)
        yield UserChoice(f"changed-{model}", {"effort": _AFTER}, at, model=model, before=_LOW)
    yield from _of_others(profile)
    # Rule 4, of models that take effort and of one that does not.
    others = models_matching(profile, "effort_models", matches=False)
    for model in (*takers, *islice(others, 1)):
        yield UserChoice(f"default-{model}", {}, model=model)


_LOW: Final = {"effort": _BEFORE}


def _effort_choices(name: str, model: str, at: tuple[str, ...]) -> Iterator[UserChoice]:
    for level in EFFORTS:
        yield UserChoice(f"{name}-{level}", {"effort": level}, at, model=model)


def _summary_choices(model: str, path: str) -> Iterator[UserChoice]:
    for kind in SUMMARIES:
        # Without effort some servers neither think nor summarise.
        options = {"effort": "low", "summary": kind}
        yield UserChoice(f"summary-{kind}", options, (path,), model=model)


def _instructed_choices(model: str, at: tuple[str, ...]) -> Iterator[UserChoice]:
    """With a system prompt, whose role may change with the level."""
    talk = (_RULES, HELLO)
    high = {"effort": _AFTER}
    yield UserChoice(f"instructed-{model}", high, at, model=model, messages=talk)
    yield UserChoice(f"instructed-off-{model}", {"effort": OFF}, model=model, messages=talk)


def _cases(profile: Profile) -> ClientCases:
    return required(get(profile.dialect).client, profile.dialect, "cases of clients")


def _models_taking_effort(profile: Profile) -> Iterator[str]:
    """A model that takes effort; of Messages one that takes a budget, and one that decides.

    Any where the profiles of a dialect do not tell models apart.
    """
    if "effort_models" not in profile.knobs:
        yield ANY
        return
    names = list(models_matching(profile, "effort_models"))
    own = _cases(profile).own_models
    if own:
        names.sort(key=lambda name: name != ANY and not name.startswith(own))
    adaptive = set(models_matching(profile, "adaptive_models"))
    yield from [name for name in names if name not in adaptive][:1]
    yield from [name for name in names if name in adaptive][:1]


def _of_others(profile: Profile) -> Iterator[UserChoice]:
    """Of a model that takes no effort, where the client distinguishes models."""
    for model in islice(models_matching(profile, "effort_models", matches=False), 1):
        for level in (OFF, *EFFORTS):
            talk = (_RULES, HELLO) if level == OFF else (HELLO,)
            yield UserChoice(f"other-model-{level}", {"effort": level}, model=model, messages=talk)


def judge_user_choices(cases: CaseSeries, sent: list[Exchange]) -> Iterator[StreamResult]:
    """The requests that a client would send for every choice, judged; `sent` takes them."""
    if NEXT_REQUEST not in cases.endpoint.about.ops:
        return
    dialect = cases.dialect
    for number, choice in enumerate(user_choices(cases.judging.profile), 1):
        answered = _ask_for_request(cases.endpoint, dialect, choice)
        cases.count_case(NEXT_REQUEST, answered)
        place = Exchange(number=number, scenario="choices", role=choice.name, dialect=dialect)
        if answered.request is None:
            made = no_answer(client_place(place), answered)
        else:
            # Next to an answer to a request that no client sends; usage may have been asked for.
            like = short_answer(dialect, states_usage=True)
            chosen = user_choices_in(choice.command(dialect))
            request = request_exchange(answered.request, number, choice.name, like, chosen)
            sent.append(request)
            made = _judge_choice(cases.judging, choice, request, client_place(place))
        yield cases.result(place, answered, made)


def _ask_for_request(endpoint: ReplayEndpoint, dialect: str, choice: UserChoice) -> AdapterAnswer:
    command, again = choice.command(dialect), in_form_of(dialect, AGAIN)
    if not choice.before:
        return endpoint.next_request(dialect, command)
    if STREAM not in endpoint.about.ops or BODIES in endpoint.about.features:
        history = [*command["messages"], {"role": "assistant", "content": ANSWER}, again]
        return endpoint.next_request(dialect, {**command, "messages": history})
    first = {**command, "options": dict(choice.before)}
    case = endpoint.replay_stream(short_variation(dialect), dialect, first)
    if case.answered.how != "completed":
        return case.answered
    return endpoint.next_request(dialect, command, case.seq, [again])


def _judge_choice(
    judging: ClientJudge, choice: UserChoice, sent: Exchange, where: str
) -> ClientLedger:
    made = judging.judge_requests([sent])
    wrong = None
    if sent.request and not choice.stands_in(sent.request):
        wrong = choice.header or " or ".join(choice.at), "none of it"
    made.state_harness_rule(harness.NEXT_REQUEST, where, wrong)
    withdraw_unsent_wishes(made, harness.NEXT_REQUEST.id)
    return made
