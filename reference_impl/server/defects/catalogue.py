"""All defects by name.

The rules of a defect are those that fail over a full set of requests (thinking, tools, a summary,
a length cut, as stream and as body): what catches it, and every rule that fails in its wake. A
defect that shows under load only has none.
"""

from __future__ import annotations

from typing import Final

from .of_bedrock import OF_BEDROCK
from .of_chat import OF_CHAT
from .of_events import OF_EVENTS
from .of_gemini import OF_GEMINI
from .of_load import OF_LOAD
from .of_messages import OF_MESSAGES
from .of_ollama import OF_OLLAMA
from .of_responses import OF_RESPONSES
from .of_sending import OF_SENDING

_ALL: Final = (
    *(*OF_EVENTS, *OF_CHAT, *OF_RESPONSES, *OF_MESSAGES, *OF_OLLAMA, *OF_GEMINI, *OF_BEDROCK),
    *(*OF_SENDING, *OF_LOAD),
)
DEFECTS: Final = {defect.name: defect for defect in _ALL}
