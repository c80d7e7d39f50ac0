"""Mutants of the rules that the documents of systems ask for in whole bodies and closed items."""

from __future__ import annotations

from typing import Final

from tests.authoring.edits import change
from tests.authoring.mutant import Mutant
from tests.authoring.mutants_responses import COMPLETED, SUMMARY, THINKING_CLOSED
from tests.authoring.turns import in_body

MUTANTS: Final = (
    Mutant(
        "summary/request/in-body-when-asked",
        "openai.responses/reference/summary-in-body",
        (in_body("output.0.summary", []),),
    ),
    Mutant(
        "summary/lifecycle/part-type",
        SUMMARY,
        (
            change(THINKING_CLOSED, "item.summary.0.type", "text"),
            change(COMPLETED, "response.output.0.summary.0.type", "text"),
        ),
    ),
    Mutant(
        "wire/responses/reasoning-status",
        "openai.responses/deepseek/raw-thinking",
        (
            change(THINKING_CLOSED, "item.status", "in_progress"),
            change(COMPLETED, "response.output.0.status", "in_progress"),
        ),
    ),
)
