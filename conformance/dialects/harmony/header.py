"""The header of a message: all between `<|start|>` and `<|message|>`.

Read as `openai-harmony` reads it: the channel ends at white space or the next marker; what is left
are words, of which the first is the role. The recipient may be on either side of the channel.
"""

from __future__ import annotations

import re
from typing import Any, Final

from msgspec import Struct

ASSISTANT: Final = "assistant"
_CHANNEL: Final = "<|channel|>"
_CONSTRAIN: Final = "<|constrain|>"
_NAME: Final = re.compile(r"[^\s<]*")
_TO: Final = "to="


class Header(Struct, frozen=True):
    """What a header states; what it does not state is empty. `rest` are words that say nothing.

    `content_type` is what comes after `<|constrain|>`, or the last word of a header with a
    recipient.
    """

    role: str
    channel: str = ""
    recipient: str = ""
    content_type: str = ""
    rest: tuple[str, ...] = ()

    def fields(self) -> dict[str, Any]:
        """What is stated, as data of an event."""
        stated = {
            "role": self.role,
            "channel": self.channel,
            "recipient": self.recipient,
            "content_type": self.content_type,
        }
        rest = {"rest": " ".join(self.rest)} if self.rest else {}
        return {name: value for name, value in stated.items() if value} | rest


def read_header(text: str, *, has_role: bool) -> Header:
    """The header that a text states. Without a role in it the prompt has said `assistant`."""
    before, _, after = text.partition(_CHANNEL)
    name = _NAME.match(after)
    channel = name[0] if name else ""
    words = (before + after[len(channel) :]).replace(_CONSTRAIN, f" {_CONSTRAIN}").split()
    role = "" if has_role else ASSISTANT
    if has_role and words:
        role = words.pop(0)
    recipient = content_type = ""
    rest: list[str] = []
    for word in words:
        if word.startswith(_TO) and word != _TO and not recipient:
            recipient = word.removeprefix(_TO)
        elif word.startswith(_CONSTRAIN) and word != _CONSTRAIN and not content_type:
            content_type = word.removeprefix(_CONSTRAIN)
        elif recipient and not content_type and word is words[-1] and _is_type(word):
            content_type = word
        else:
            rest.append(word)
    return Header(role, channel, recipient, content_type, tuple(rest))


def _is_type(word: str) -> bool:
    return word != _CONSTRAIN and not word.startswith(_TO)
