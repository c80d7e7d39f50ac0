"""Whether a prompt leaves thinking open, so that the model writes only the closer.

Only what the template adds for the answer is looked at. A marker in front of it is part of the
conversation: what a user typed, or the thinking of an earlier turn.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .markers import Markers

Render = Callable[[bool], str]
"""The rendered conversation, with or without the beginning of an answer."""


def opens_thinking(
    encode: Callable[[str], Sequence[int]], markers: Markers | None, *renders: Render
) -> bool:
    """What the last marker in the beginning of the answer says.

    `renders` are tried in turn: a template may write a conversation differently without the
    beginning of an answer, and then says nothing about where that begins.
    """
    if markers is None:
        return False
    for render in renders:
        whole, before = render(True), render(False)
        if whole.startswith(before):
            beginning = encode(whole[len(before) :])
            pair = (markers.open_id, markers.close_id)
            last = next((token for token in reversed(beginning) if token in pair), None)
            return last == markers.open_id
    return False
