"""Presets: what other servers are documented to do, as choices over this one.

Each is a model of a system at one time, after its documents and its published tests. Its known
bugs are no choices: where one is wanted, there is a named defect. A choice that no document names
is that of the reference.

`neuron-may`     helexa neuron from 2026-05-31 on: thinking is stripped unless a header asks for it.
`neuron-august`  helexa neuron from 2026-08-19 on: thinking in `reasoning_content` by default.
`ogx-streamed`   OGX PR #5451 as it stood on 2026-04-09: summaries as a streamed lifecycle.
`ogx-merged`     OGX PR #5451 as merged on 2026-04-21, to 1.5.0: the summary in the closed item.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from .settings import Settings

REFERENCE: Final = "reference"

_NEURON: Final = Settings(
    opt_in_wraps=True,
    usage_unasked=True,
    zero_details=False,
    responses_thinking="summary",
    summary_carrier="none",  # there is no second call
    thinks_once=True,
    always_a_message=True,
    remembers=False,
    reads_reasoning=False,
)
_OGX: Final = Settings(
    levels=("minimal", "low", "medium", "high", "xhigh"),
    chat_reasoning="reasoning",
    chat_done=False,
    needs_effort=True,
    event_lines=False,
    seals=False,
)

LIKENESSES: Final[Mapping[str, Settings]] = {
    REFERENCE: Settings(),
    "neuron-may": replace(_NEURON, chat_reasoning="strip", unseen="skipped"),
    "neuron-august": replace(_NEURON, chat_reasoning="reasoning_content"),
    # The thread lists parts without and with `reasoning_summary_text.done`; the code had it.
    "ogx-streamed": replace(_OGX, summary_carrier="events", summary_text_done=True),
    "ogx-merged": replace(_OGX, summary_carrier="item_done", summary_parts="whole"),
}
"""Name -> choices; those of the command line are laid over them."""
