"""Defects of Responses alone: events that are lost, doubled or filled wrongly."""

from __future__ import annotations

from typing import Final

from . import responses_wires
from .defect import Defect
from .wires import doubled, edited, lost, named

OF_RESPONSES: Final = (
    Defect(
        "orphan-deltas",
        "reasoning items are never announced; their deltas come all the same",
        {
            "responses": (
                "summary/lifecycle/in-reasoning-item",
                "wire/responses-items/thinking-in-reasoning",
                "wire/responses/item-announced",
                "wire/responses/item-index-contiguous",
                "wire/responses/items-serial",
            )
        },
        wires=lost(responses_wires.is_item("reasoning")),
    ),
    Defect(
        "item-never-done",
        "reasoning items are never closed",
        {
            "responses": (
                "wire/responses/item-closed",
                "wire/responses/items-serial",
                "wire/responses/output-agrees",
            )
        },
        wires=lost(responses_wires.is_item("reasoning", at="done")),
    ),
    Defect(
        "index-reuse",
        "every item stands at the output index of the first",
        {
            "responses": (
                "wire/responses-parts/arguments-agree",
                "wire/responses-parts/arguments-item-agree",
                "wire/responses-parts/content-index",
                "wire/responses-parts/part-agrees",
                "wire/responses/item-done-last",
                "wire/responses/item-id",
                "wire/responses/item-index-contiguous",
                "wire/responses/item-index-unused",
                "wire/responses/item-type",
            )
        },
        wires=responses_wires.index_reuse,
    ),
    Defect(
        "item-id-changes",
        "every event of an item carries another id",
        {"responses": ("wire/responses/interrupted-items-kept", "wire/responses/item-id")},
        wires=responses_wires.item_id_changes,
    ),
    Defect(
        "sequence-gap",
        "a sequence number is left out",
        {"responses": ("wire/responses/sequence-from-zero",)},
        wires=responses_wires.sequence_gap,
    ),
    Defect(
        "text-never-done",
        "the text of a message is never stated as a whole",
        {
            "responses": (
                "wire/responses-parts/part-agrees",
                "wire/responses-parts/text-item-agrees",
                "wire/responses-parts/text-part-lifecycle",
            )
        },
        wires=lost(named("response.output_text.done")),
    ),
    Defect(
        "output-emptied",
        "the closing response has no output",
        {
            "responses": (
                "stripping/opt-in/stream-equals-body",
                "stripping/opt-in/stream-thinks-as-body",
                "wire/responses/interrupted-items-kept",
                "wire/responses/interrupted-output-kept",
                "wire/responses/output-agrees",
                "thinking/answer/said",
            )
        },
        wires=edited(
            named("response.completed", "response.incomplete", "response.failed"),
            responses_wires.emptied_output,
        ),
        live=("scenario/thinking",),
    ),
    Defect(
        "completed-on-cut",
        "a response that ran out of tokens closes as completed",
        {"responses": ("wire/responses/incomplete-response",)},
        wires=responses_wires.completed_on_cut,
        live=("scenario/ending", "wire/responses-items/whole-items-closed"),
    ),
    Defect(
        "created-twice",
        "the response is created twice in one stream",
        {"responses": ("wire/responses/created-once",)},
        wires=doubled(named("response.created")),
    ),
    Defect(
        "delta-doubled",
        "every delta of thinking is sent twice",
        {
            "responses": (
                "stripping/opt-in/stream-thinks-as-body",
                "thinking/stream/said-once",
                "wire/responses-parts/raw-agrees",
            )
        },
        wires=doubled(named("response.reasoning_text.delta")),
    ),
    Defect(
        "parts-missing",
        "content parts are never opened and never closed",
        {
            "responses": (
                "wire/responses-parts/raw-part-lifecycle",
                "wire/responses-parts/text-part-lifecycle",
            )
        },
        wires=lost(named("response.content_part.added", "response.content_part.done")),
    ),
    Defect(
        "content-index-grows",
        "every delta has the next content index",
        {
            "responses": (
                "wire/responses-parts/raw-agrees",
                "wire/responses-parts/raw-part-lifecycle",
                "wire/responses-parts/text-agrees",
                "wire/responses-parts/text-part-lifecycle",
            )
        },
        wires=responses_wires.content_index_grows,
    ),
    Defect(
        "summary-in-done-only",
        "a summary stands in the closed item, and has no events",
        {
            "responses": (
                "summary/lifecycle/item-agrees",
                "summary/lifecycle/summary-streamed",
                "summary/request/comes-when-asked",
            )
        },
        wires=lost(responses_wires.is_summary),
    ),
    Defect(
        "summary-without-part-added",
        "parts of a summary are never opened",
        {"responses": ("summary/lifecycle/part-lifecycle",)},
        wires=lost(named("response.reasoning_summary_part.added")),
    ),
    Defect(
        "summary-part-never-done",
        "parts of a summary are never closed",
        {"responses": ("summary/lifecycle/part-closed", "summary/lifecycle/part-lifecycle")},
        wires=lost(named("response.reasoning_summary_part.done")),
    ),
    Defect(
        "summary-delta-cumulative",
        "every delta of a summary repeats its part so far",
        {"responses": ("stripping/opt-in/stream-thinks-as-body", "summary/lifecycle/text-agrees")},
        wires=responses_wires.summary_cumulative,
    ),
)
