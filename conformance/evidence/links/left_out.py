"""Why a turn may come back without what was thought in it, or with that as text.

Rule 1: a model reads its own thinking, and that of few others ("a model reads only some other
models' thinking blocks", https://platform.claude.com/docs/en/build-with-claude/preserved-thinking):
who asks another model, or another server, may leave it out. It may stand there as text as well:
@mariozechner/pi-ai 0.73.1 makes text of the thinking of every other model.
Rule 2: a turn that is over and comes back without its calls was condensed by its client.
Rule 3: a client in a run is played recordings, and continues them at another address under a name
that its user chose: what counts there is whether the user changed the model.
Rule 4: an alias and the dated name of one model are one, such as claude-sonnet-4-5 and
claude-sonnet-4-5-20250929, or gpt-5 and gpt-5-2025-08-07.
"""

from __future__ import annotations

import re
from typing import Final

from conformance.core.events import Exchange
from conformance.core.json_values import value_at
from conformance.dialects.base import Dialect
from conformance.evidence.links.assignment import TurnLink
from conformance.evidence.links.requests import RepeatedTalk

ELSEWHERE: Final = "the request goes to another model than the one that thought so"
_DATED: Final = re.compile(r"[-@](latest|20[0-9]{2}-?[01][0-9]-?[0-3][0-9])$")


def why_left_out(link: TurnLink, talk: RepeatedTalk, dialect: Dialect) -> str:
    """The reason in words; empty where there is none."""
    answer = link.answers[0]
    if _goes_elsewhere(answer.exchange, talk.exchange, dialect):
        return ELSEWHERE
    calls = (call for place in link.entries for call in talk.said[place].calls)
    if not link.is_current and answer.calls and not any(calls):
        return "a turn that is over comes back without its calls: it was condensed"
    return ""


def _goes_elsewhere(first: Exchange, second: Exchange, dialect: Dialect) -> bool:
    """Rules 1, 3 and 4."""
    chosen = [value_at(each.user_choices, "model") for each in (first, second)]
    if all(isinstance(each, str) for each in chosen):
        return bool(chosen[0] != chosen[1])
    asked, now = (dialect.stated(each.request) for each in (first, second))
    if asked is None or now is None:
        return False
    models = [value_at(each.json, "model") for each in (asked, now)]
    hosts = {each.host for each in (asked, now)} - {""}
    are_named = all(isinstance(each, str) and each for each in models)
    return len(hosts) > 1 or (are_named and not _are_one(*models))


def _are_one(first: str, second: str) -> bool:
    """Rule 4. Two dates are two models."""
    alias, other = (_DATED.sub("", each) for each in (first, second))
    return first == second or (alias == other and alias in (first, second))
