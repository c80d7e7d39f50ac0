"""Defects of Messages alone: events that are lost, doubled or filled wrongly."""

from __future__ import annotations

from typing import Final

from . import messages_wires
from .defect import Defect
from .wires import edited, lost, named

OF_MESSAGES: Final = (
    Defect(
        "signature-missing",
        "thinking blocks end without a signature",
        {
            "messages": (
                "history/messages/signature-present",
                "wire/messages-blocks/signature-present",
                "wire/messages/body-thinking-signed",
            )
        },
        wires=lost(messages_wires.is_delta("signature_delta")),
        live=("scenario/ending",),
    ),
    Defect(
        "signature-empty",
        "the signature of a thinking block is empty",
        {
            "messages": (
                "history/messages/signature-present",
                "wire/messages-blocks/signature-filled",
                "wire/messages/body-thinking-signed",
            )
        },
        wires=edited(messages_wires.is_delta("signature_delta"), messages_wires.unsigned),
        live=("scenario/ending",),
    ),
    Defect(
        "start-holds-text",
        "the start of a block holds the text of its first delta",
        {
            "messages": (
                "history/messages/text-unchanged",  # what goes back has the first delta, too
                "stripping/opt-in/stream-equals-body",
                "stripping/opt-in/stream-thinks-as-body",
                "wire/messages-blocks/start-without-text",
            )
        },
        wires=messages_wires.start_holds_text,
        live=("scenario/ending",),
    ),
    Defect(
        "start-per-chunk",
        "every delta of thinking has a block of its own",
        {
            "messages": (
                "history/messages/signature-present",
                "wire/messages-blocks/signature-present",
                "wire/messages/body-thinking-signed",
            )
        },
        wires=messages_wires.start_per_chunk,
        live=("scenario/ending", "thinking/stream/says-something"),
    ),
    Defect(
        "two-blocks-open",
        "a block stops only when the next one has started",
        {"messages": ("wire/messages-blocks/blocks-serial",)},
        wires=messages_wires.two_blocks_open,
    ),
    Defect(
        "block-never-stops",
        "content blocks are never stopped",
        {
            "messages": (
                "wire/messages-blocks/block-lifecycle",
                "wire/messages-blocks/blocks-serial",
            )
        },
        wires=lost(named("content_block_stop")),
    ),
)
