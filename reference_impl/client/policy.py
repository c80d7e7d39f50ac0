"""Whether thinking goes back to the model in the next request.

`send-back`  always: tool loops lose their thread without it, and some APIs answer 400.
`never`      never: what the OpenHands document asks for.
`by-model`   as the model is known to want it; models that nobody knows get none.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Final, Literal

Policy = Literal["send-back", "never", "by-model"]
POLICIES: Final[tuple[Policy, ...]] = ("send-back", "never", "by-model")

# The first pattern that fits decides; a vendor in front of a slash is passed over.
MODELS: Final = (
    ("deepseek-r1*", False),  # the R1 API answered 400 to reasoning_content in the history
    ("deepseek-*", True),
    ("kimi-k2-thinking*", True),
    ("kimi-k2.5*", True),
    ("kimi-k2.6*", True),
    ("kimi-k3*", True),
    ("minimax-m2*", True),
    ("glm-4.[67]*", True),
    ("glm-5*", True),
    ("claude-*", True),
    ("gpt-5*", True),
    ("o[134]*", True),
)


def sends(policy: Policy, model: str) -> bool:
    """Whether requests to a model carry its earlier thinking."""
    if policy != "by-model":
        return policy == "send-back"
    name = model.rpartition("/")[2].lower()
    return next((answer for pattern, answer in MODELS if fnmatchcase(name, pattern)), False)
