"""Whether an API is there and sane: in which style it answers, and whose answers these are."""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from conformance.core.errors import RemoteError
from conformance.core.events import Exchange
from conformance.dialects import get, required
from conformance.judging.transcript import read_transcript
from conformance.profiles.profile import Profile, reading
from conformance.recordings.choices import CheckChoices, choose_profile
from conformance.recordings.sender import sender_of
from conformance.runs.api_run import ApiRun
from conformance.runs.pace import RequestsSpentError
from conformance.runs.refusals import (
    answered_as_refined,
    elsewhere,
    error_words,
    refusal,
    status_of,
)
from conformance.runs.sending import TargetReply
from conformance.runs.step_requests import ask_for_marker, marker_word, step_request

_WRONG_STYLE: Final = frozenset({400, 422})
_SANE: Final = frozenset({"complete", "length"})


async def probe_api(run: ApiRun) -> bool:
    """Finds the style in which the API answers, and whether it does so twice alike.

    False if the first answer is not sane. Raises NotOfferedError and NotLetInError if there is no
    such API for us, RemoteError if there is no server.
    """
    first = await _find_style(run)
    if first.untestable:
        raise RemoteError(f"{run.dialect}: {first.untestable}", hint="see --max-wait")
    _refuse_absent(run, first.fetched.exchange)
    words = _add_sanity(run, first, "first")
    if words is None:
        return False
    again = await _ask_sanity(run)
    run.deterministic = _add_sanity(run, again, "again") == words and run.deterministic
    return True


def identify_profile(run: ApiRun) -> Profile:
    """The profile to plan and read by: the user's, or whose signs the first answers show."""
    dialect, folders = get(run.dialect), run.target.options.folders
    sender = sender_of(run.sanity.answers, dialect, folders) if run.profile is None else None
    if sender is not None and sender.is_certain:
        run.profile, run.signs = sender.profile, sender.signs
    choices = CheckChoices(profile=run.profile, folders=folders)
    profile, _ = choose_profile(dialect, choices, None, run.target.rulebook.profile)
    opt_in = str(profile.knobs.get("opt_in", "header"))
    run.settings = replace(run.settings, reading=reading(profile), opt_in=opt_in)
    return profile


async def probe_again(run: ApiRun) -> None:
    """Asks once more after the last scenario: is it still there, does it still say the same."""
    first = run.sanity.transcript_of(run.sanity.answers[0], run.settings.reading).spoken()
    try:
        last = await _ask_sanity(run)
    except RemoteError as err:
        run.died = f"the server no longer answers after the last scenario: {err}"
        return
    words = _add_sanity(run, last, "last")
    if words is not None and words != first:
        run.deterministic = run.varies_in_company = False


async def is_alive(run: ApiRun) -> bool:
    try:
        await _ask_sanity(run)
    except (RemoteError, RequestsSpentError):
        return False
    return True


async def _find_style(run: ApiRun) -> TargetReply:
    for style in required(get(run.dialect).request, run.dialect, "request bodies").styles:
        run.settings = replace(run.settings, style=style)
        reply = await _ask_sanity(run)
        if status_of(reply.fetched.exchange) not in _WRONG_STYLE:
            break
    return reply


async def says_its_word(run: ApiRun) -> bool:
    """Whether an answer, taken alone, says the word that its request was given."""
    word = marker_word(f"{run.dialect} sanity")
    try:
        reply = await _ask_sanity(run, word)
    except (RemoteError, RequestsSpentError):
        return False
    answer = read_transcript(reply.fetched.exchange, get(run.dialect), run.settings.reading)
    run.target.sender.tokens.add_usage(answer.usage)
    return any(word in text for text in answer.spoken())


async def _ask_sanity(run: ApiRun, word: str = "") -> TargetReply:
    sanity, settings = run.sanity.run.scenario, run.settings
    values = {**sanity.values, "model": settings.model, "limit": settings.limit}
    # In the same way before and after the profile is known, for the answers are compared.
    settings = replace(settings, opt_in="header")
    request = step_request(sanity.steps[0], run.dialect, values, settings)
    if word:
        request = replace(request, json=ask_for_marker(request.json, word))
    return await run.target.sender.require_reply(request, run.dialect)


def _add_sanity(run: ApiRun, reply: TargetReply, role: str) -> tuple[str, ...] | None:
    """The texts of the answer; None if it was not sane."""
    (first,) = run.sanity.run.scenario.steps
    step = replace(first, role=role, ends=("complete",), thinking=None)
    request = reply.fetched.exchange.request
    run.sanity.add_reply(step, reply, request.json if request else None)
    exchange = run.sanity.answers[-1]
    answer = run.sanity.transcript_of(exchange, run.settings.reading)
    run.target.sender.tokens.add_usage(answer.usage)
    return answer.spoken() if answer.ending in _SANE else None


def _refuse_absent(run: ApiRun, exchange: Exchange) -> None:
    """Raises NotOfferedError and NotLetInError where the API is not there, or not for us."""
    # An API that the user named is judged by any answer.
    if run.dialect not in run.target.options.dialects:
        _raise(elsewhere(exchange, run.dialect))
        _raise(answered_as_refined(exchange, run.dialect))
    words = error_words(replace(exchange, dialect=run.dialect), run.settings.reading)
    words = run.target.folder.clean_line(words)
    _raise(refusal(exchange, run.dialect, words, run.settings.model))


def _raise(error: RemoteError | None) -> None:
    if error is not None:
        raise error
