"""The words of the talk about a ferry, which the histories of many dialects carry on."""

from __future__ import annotations

from typing import Final

FERRY: Final = "Does the ferry to the island sail today?"
FERRY_THOUGHT: Final = (
    "Whether it sails depends on the wind, which only the timetable service knows."
)
FERRY_RESULT: Final = "Sailings at nine and at five."
FERRY_TEXT: Final = "Yes, at nine and at five."
FOUND: Final = "Two sailings are listed, so the answer is yes."
NAME: Final = "get_timetable"
ARGUMENTS: Final = '{"line":"island"}'
