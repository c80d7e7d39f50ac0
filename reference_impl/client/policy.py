"""Whether thinking goes back to the model in the next request.

`send-back`  always: tool loops lose their thread without it, and some APIs answer 400.
`never`      never: what the OpenHands document asks for.
`by-model`   as the model is known to want it; models that nobody knows get none.
"""

from __future__ import annotations

import re
from typing import Final, Literal

Policy = Literal["send-back", "never", "by-model"]
POLICIES: Final[tuple[Policy, ...]] = ("send-back", "never", "by-model")

# Known to want it; a vendor may be in front of a slash. The R1 API answered 400.
MODELS: Final = (
    r"(^|/)(deepseek-(?!r1)|kimi-k2-thinking|kimi-k2\.[56]|kimi-k3|minimax-m2|glm-4\.[67]|glm-5"
    r"|claude-|gpt-5|o[134])[^/]*$"
)


def sends(policy: Policy, model: str, models: str = MODELS) -> bool:
    """Whether requests to a model carry its earlier thinking."""
    if policy != "by-model":
        return policy == "send-back"
    return re.search(models, model, re.IGNORECASE) is not None
