"""Mutants of `wire/responses-items`, and of what bodies and closing events state of items."""

from __future__ import annotations

from typing import Any, Final

from tests.authoring import edits
from tests.authoring.edits import Pieces, renumber, typed
from tests.authoring.mutant import SAID_ONCE, Mutant
from tests.authoring.mutants_parts import PART_ADDED, RAW
from tests.authoring.mutants_responses import CALL, COMPLETED, DELTA, HIDDEN, MESSAGE_ADDED, SUMMARY
from tests.authoring.pieces import Fields, Message, Piece, at
from tests.authoring.turns import answers, in_body, not_in_body

SEARCH: Final = "openai.responses/openai/hosted-search"
CUT_SUMMARY: Final = "openai.responses/openai/incomplete-in-summary"
FAILED: Final = "openai.responses/openai/error-then-failed"
BODY: Final = "openai.responses/openai/body-with-call"
CALLS: Final = "openai.responses/openai/listed-tools-then-calls"
RAW_BODY: Final = "openai.responses/deepseek/raw-body"
UNSTATED: Final = "openai.responses/transformers/raw-without-parts"

SEARCH_CLOSED: Final = typed("response.output_item.done", "web_search_call")
SEARCHED: Final = typed("response.web_search_call.completed")
SEARCHING: Final = typed("response.web_search_call.searching")
CALL_ADDED: Final = typed("response.output_item.added", "function_call")
CALL_CLOSED: Final = typed("response.output_item.done", "function_call")
THINKING_ADDED: Final = typed("response.output_item.added", "reasoning")
THINKING_CLOSED: Final = typed("response.output_item.done", "reasoning")
CUT_PART: Final = typed("response.reasoning_summary_part.done")
USAGE: Final = "response.usage"


def _is_raw(message: Message) -> bool:
    return str(at(message.payload, "type")).startswith("response.reasoning_text.")


def _of_thinking(message: Message) -> bool:
    return bool(message.payload.get("output_index") == 0)


def _as_text(pieces: Pieces) -> list[Piece]:
    """The thinking is sent as text, inside its reasoning item."""
    renamed = [
        _renamed(piece) if isinstance(piece, Message) and _of_thinking(piece) else piece
        for piece in pieces
    ]
    closed = edits.change(THINKING_CLOSED, "item", _untyped)(renamed)
    return edits.change(COMPLETED, "response.output.0", _untyped)(closed)


def _renamed(piece: Message) -> Message:
    kind = str(at(piece.payload, "type")).replace("reasoning_text", "output_text")
    payload = {**piece.payload, "type": kind}
    if at(payload, "part.type"):
        payload["part"] = {**payload["part"], "type": "output_text"}
    return Message(payload, kind)


def _under_message(pieces: Pieces) -> list[Piece]:
    """The thinking comes under the message, once that is announced."""
    place = {"output_index": 1, "item_id": "msg_02", "content_index": 1}
    moved = [p for p in pieces if isinstance(p, Message) and _is_raw(p)]
    rest = [p for p in pieces if p not in moved]
    spot = edits.place(rest, MESSAGE_ADDED) + 1
    retold = [Message({**piece.payload, **place}, piece.event) for piece in moved]
    return [*rest[:spot], *retold, *rest[spot:]]


def _message_first(output: list[Any]) -> list[Any]:
    return [output[1], output[0], *output[2:]]


def _untyped(item: Fields) -> Fields:
    return {**item, "content": [{**part, "type": "output_text"} for part in item["content"]]}


def _shorter(text: str) -> str:
    return text[:-1]


MUTANTS: Final = (
    Mutant("wire/responses-items/ids-known", SUMMARY, (edits.remove(DELTA, "item_id", 1),)),
    Mutant(
        "wire/responses-items/ids-known",
        CALLS,
        (edits.remove(typed("response.mcp_list_tools.in_progress"), "item_id"),),
        name="wire/responses-items/ids-known-of-listed-tools",
    ),
    Mutant(
        "wire/responses/item-id",
        CALLS,
        (edits.change(typed("response.mcp_list_tools.completed"), "item_id", "mcpl_02"),),
        name="wire/responses/item-id-of-listed-tools",
    ),
    # A bridge that makes one id per response.
    Mutant(
        "wire/responses-items/call-ids-distinct",
        CALLS,
        (
            edits.change(CALL_ADDED, "item.call_id", "call_fc_03", 1),
            edits.change(CALL_CLOSED, "item.call_id", "call_fc_03", 1),
            edits.change(COMPLETED, "response.output.3.call_id", "call_fc_03"),
        ),
    ),
    # A proxy builds the final output from what it shows.
    Mutant(
        "wire/responses-items/encrypted-kept",
        HIDDEN,
        (edits.remove(COMPLETED, "response.output.0.encrypted_content"),),
    ),
    Mutant(
        "wire/responses-items/encrypted-streamed",
        HIDDEN,
        (edits.remove(typed("response.output_item.done", "reasoning"), "item.encrypted_content"),),
    ),
    # A proxy that makes an id of its own at each event.
    Mutant(
        "wire/responses-items/call-id-kept",
        CALL,
        (
            edits.change(CALL_CLOSED, "item.call_id", "call_zz"),
            edits.change(COMPLETED, "response.output.1.call_id", "call_zz"),
        ),
    ),
    Mutant(
        "wire/responses-items/call-name-kept",
        CALL,
        (
            edits.change(CALL_CLOSED, "item.name", "other"),
            edits.change(COMPLETED, "response.output.1.name", "other"),
        ),
    ),
    Mutant("wire/responses/body-fields", BODY, turns={1: answers(not_in_body("id"))}),
    Mutant("wire/responses-items/items-named", SUMMARY, (edits.remove(MESSAGE_ADDED, "item.id"),)),
    Mutant(
        "wire/responses-items/closed-whole",
        CALL,
        (
            edits.remove(CALL_CLOSED, "item.call_id"),
            edits.remove(COMPLETED, "response.output.1.call_id"),
        ),
    ),
    Mutant(
        "wire/responses-items/announced-open",
        SUMMARY,
        (edits.change(MESSAGE_ADDED, "item.status", "incomplete"),),
    ),
    # Clients run a call that is complete, and it has no arguments yet.
    Mutant(
        "wire/responses-items/announced-open",
        CALLS,
        (edits.change(CALL_ADDED, "item.status", "completed"),),
        name="wire/responses-items/call-announced-open",
    ),
    # A bridge that knows one kind of text.
    Mutant(
        "wire/responses-items/text-in-message",
        RAW,
        (_as_text,),
        also=(
            "thinking/stream/before-text",
            "wire/responses-parts/raw-item-agrees",
            "wire/responses-parts/raw-part-type",
        ),
    ),
    Mutant(
        "wire/responses-items/thinking-in-reasoning",
        UNSTATED,
        (_under_message, renumber),
        (SAID_ONCE,),
    ),
    Mutant("wire/responses-items/hosted-order", SEARCH, (edits.move(SEARCHING, by=1), renumber)),
    Mutant("wire/responses-items/hosted-ended", SEARCH, (edits.drop(SEARCHED), renumber)),
    Mutant(
        "wire/responses-items/hosted-status",
        SEARCH,
        (
            edits.change(SEARCH_CLOSED, "item.status", "searching"),
            edits.change(COMPLETED, "response.output.1.status", "searching"),
        ),
    ),
    Mutant(
        "wire/responses/status-agrees",
        SUMMARY,
        (edits.change(typed("response.in_progress"), "response.status", "queued"),),
        name="wire/responses/status-agrees-at-the-beginning",
    ),
    Mutant(
        "wire/responses-items/failed-says-why",
        FAILED,
        (edits.change(typed("response.failed"), "response.error", None),),
    ),
    Mutant(
        "wire/responses/usage-present",
        SUMMARY,
        (edits.remove(COMPLETED, f"{USAGE}.total_tokens"),),
        name="wire/responses/usage-present-without-total",
    ),
    Mutant(
        "wire/responses-items/total-is-sum",
        SUMMARY,
        (edits.change(COMPLETED, f"{USAGE}.total_tokens", 1),),
    ),
    Mutant(
        "wire/responses-items/usage-details",
        "openai.responses/azure/summary-not-counted",
        (edits.remove(COMPLETED, f"{USAGE}.output_tokens_details"),),
    ),
    Mutant(
        "wire/responses-items/whole-thinking-counted",
        BODY,
        turns={1: answers(in_body("usage.output_tokens_details.reasoning_tokens", 0))},
    ),
    Mutant(
        "wire/responses-items/whole-items-closed",
        BODY,
        turns={1: answers(in_body("output.1.status", "in_progress"))},
    ),
    Mutant(
        "wire/responses-items/whole-thinking-first",
        BODY,
        turns={1: answers(in_body("output", _message_first))},
    ),
    Mutant(
        "wire/responses-items/whole-arguments-json",
        BODY,
        turns={1: answers(in_body("output.2.arguments", _shorter))},
    ),
    Mutant(
        "wire/responses-items/encrypted-when-asked",
        BODY,
        turns={1: answers(not_in_body("output.0.encrypted_content"))},
    ),
    Mutant(
        "wire/responses-parts/part-starts-empty",
        SUMMARY,
        (edits.change(PART_ADDED, "part.text", "They"),),
    ),
    # A bridge that knows one kind of part.
    Mutant(
        "wire/responses-parts/raw-part-type",
        RAW_BODY,
        turns={1: answers(in_body("output.0", _untyped))},
        name="wire/responses-parts/raw-part-type-in-body",
    ),
    Mutant(
        "wire/responses-parts/raw-text-stated",
        UNSTATED,
        (edits.drop(typed("response.reasoning_text.done")), renumber),
    ),
    Mutant(
        "summary/lifecycle/summary-list",
        SUMMARY,
        (edits.remove(THINKING_ADDED, "item.summary"),),
    ),
    Mutant(
        "summary/lifecycle/summary-list",
        RAW_BODY,
        turns={1: answers(not_in_body("output.0.summary"))},
        name="summary/lifecycle/summary-list-in-body",
    ),
    Mutant(
        "summary/lifecycle/part-status",
        CUT_SUMMARY,
        (edits.change(CUT_PART, "status", "completed"),),
    ),
)
