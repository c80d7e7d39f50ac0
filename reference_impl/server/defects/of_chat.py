"""Defects of Chat Completions alone: events that are lost, doubled or filled wrongly."""

from __future__ import annotations

from typing import Final

from . import chat_wires
from .defect import Defect
from .wires import doubled, is_chat_usage, lost

OF_CHAT: Final = (
    Defect(
        "wrap-unclosed",
        "the close marker of wrapped thinking is not sent",
        {"chat": ("stripping/opt-in/same-text", "stripping/visible-text/markers-balanced")},
        wires=chat_wires.wrap_unclosed,
    ),
    Defect(
        "role-on-every-chunk",
        "every chunk says the role",
        {"chat": ("wire/chat/role-once",), "mistral": ("wire/chat/role-once",)},
        wires=chat_wires.role_on_every_chunk,
    ),
    Defect(
        "no-done",
        "the line `[DONE]` is not sent",
        {
            "chat": ("wire/chat/done-present",),
            "interactions": ("wire/interactions/sentinel-present",),
            "mistral": ("wire/chat/done-present",),
        },
        wires=lost(chat_wires.is_done),
    ),
    Defect(
        "done-twice",
        "the line `[DONE]` is sent twice",
        {
            "chat": ("wire/chat/done-once",),
            "interactions": ("wire/interactions/sentinel-last",),
            "mistral": ("wire/chat/done-once",),
        },
        wires=doubled(chat_wires.is_done),
    ),
    Defect(
        "finish-missing",
        "the chunk with the finish reason is not sent",
        {
            "chat": (
                "wire/chat/empty-choices-last",
                "wire/chat/finish-present",
                "wire/chat/usage-last",
            ),
            "mistral": ("wire/chat/finish-present", "wire/mistral/body-counted"),
        },
        wires=lost(chat_wires.is_finish),
        live=("scenario/ending",),
    ),
    Defect(
        "finish-twice",
        "the chunk with the finish reason is sent twice",
        {
            "chat": ("wire/chat/finish-once",),
            "mistral": ("wire/chat/finish-once", "wire/chat/usage-once"),
        },
        wires=doubled(chat_wires.is_finish),
    ),
    Defect(
        "usage-twice",
        "the chunk with the usage is sent twice",
        {"chat": ("wire/chat/usage-once",)},
        wires=doubled(is_chat_usage),
    ),
    Defect(
        "tool-id-repeated",
        "every fragment of a call repeats its id",
        {"chat": ("wire/chat/tool-named-once",)},
        wires=chat_wires.tool_id_repeated,
    ),
)
