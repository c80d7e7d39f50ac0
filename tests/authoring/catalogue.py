"""Everything that ships: good streams, and mutants of them."""

from __future__ import annotations

from functools import cache

from tests.authoring import (
    acp_streams,
    agui_streams,
    both_hops_streams,
    carried_streams,
    chat_streams,
    choice_streams,
    claude_streams,
    clients,
    codex_streams,
    cohere_streams,
    converse_streams,
    gemini_streams,
    habit_streams,
    harmony_streams,
    history_streams,
    item_streams,
    likeness_streams,
    messages_streams,
    mutants_acp,
    mutants_agui,
    mutants_blocks,
    mutants_chat,
    mutants_choices,
    mutants_claude,
    mutants_codex,
    mutants_cohere,
    mutants_converse,
    mutants_converse_blocks,
    mutants_gemini,
    mutants_harmony,
    mutants_history,
    mutants_hops,
    mutants_items,
    mutants_likeness,
    mutants_messages,
    mutants_ollama,
    mutants_ollama_generate,
    mutants_opt_in,
    mutants_parts,
    mutants_requests,
    mutants_responses,
    mutants_responses_items,
    mutants_systems,
    mutants_thinking,
    mutants_ui_message,
    mutants_wire,
    ollama_generate_streams,
    ollama_streams,
    opt_in_streams,
    permitted_streams,
    request_streams,
    responses_streams,
    systems_streams,
    ui_message_streams,
)
from tests.authoring.draft import Draft


@cache
def good() -> tuple[Draft, ...]:
    """Streams that keep every rule of their profile."""
    streams = (
        *responses_streams.drafts(),
        *chat_streams.drafts(),
        *messages_streams.drafts(),
        *ollama_streams.drafts(),
        *ollama_generate_streams.drafts(),
        *converse_streams.drafts(),
        *cohere_streams.drafts(),
        *harmony_streams.drafts(),
        *gemini_streams.drafts(),
        *history_streams.drafts(),
        *item_streams.drafts(),
        *opt_in_streams.drafts(),
        *request_streams.drafts(),
        *permitted_streams.drafts(),
        *likeness_streams.drafts(),
        *systems_streams.drafts(),
        *choice_streams.drafts(),
        *carried_streams.drafts(),
        *habit_streams.drafts(),
        *ui_message_streams.drafts(),
        *both_hops_streams.drafts(),
        *agui_streams.drafts(),
        *claude_streams.drafts(),
        *codex_streams.drafts(),
        *acp_streams.drafts(),
    )
    return (*streams, *clients.drafts({draft.name: draft for draft in streams}))


@cache
def mutants() -> tuple[Draft, ...]:
    """One mutant per rule, and the one of the demonstration."""
    drafts = {draft.name: draft for draft in good()}
    made = (
        *mutants_wire.MUTANTS,
        *mutants_responses.MUTANTS,
        *mutants_parts.MUTANTS,
        *mutants_chat.MUTANTS,
        *mutants_messages.MUTANTS,
        *mutants_blocks.MUTANTS,
        *mutants_converse.MUTANTS,
        *mutants_converse_blocks.MUTANTS,
        *mutants_thinking.MUTANTS,
        *mutants_items.MUTANTS,
        *mutants_responses_items.MUTANTS,
        *mutants_history.MUTANTS,
        *mutants_opt_in.MUTANTS,
        *mutants_requests.MUTANTS,
        *mutants_systems.MUTANTS,
        *mutants_likeness.MUTANTS,
        *mutants_choices.MUTANTS,
        *mutants_ollama.MUTANTS,
        *mutants_ollama_generate.MUTANTS,
        *mutants_ui_message.MUTANTS,
        *mutants_cohere.MUTANTS,
        *mutants_harmony.MUTANTS,
        *mutants_hops.MUTANTS,
        *mutants_agui.MUTANTS,
        *mutants_claude.MUTANTS,
        *mutants_codex.MUTANTS,
        *mutants_acp.MUTANTS,
        *mutants_gemini.MUTANTS,
    )
    return tuple(mutant.draft(drafts) for mutant in made)
