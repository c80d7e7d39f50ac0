"""Hosts of public services of models: their names are no secret, and say who answered.

Any other host stays out of what is written: it may be the name of somebody's own machine. A host of
a profile's fingerprint is here, or nobody could look at a converted recording of it any more.
"""

from __future__ import annotations

from typing import Final

_HOSTS: Final = frozenset(
    {
        *("api.openai.com", "chatgpt.com", "api.anthropic.com", "openrouter.ai", "ollama.com"),
        *("generativelanguage.googleapis.com", "api.mistral.ai", "api.cohere.com", "api.cohere.ai"),
        *("api.deepseek.com", "api.groq.com", "api.together.xyz", "api.together.ai", "api.x.ai"),
        *("api.moonshot.ai", "api.moonshot.cn", "api.z.ai", "open.bigmodel.cn"),
        *("dashscope.aliyuncs.com", "dashscope-intl.aliyuncs.com", "dashscope-us.aliyuncs.com"),
        *("coding.dashscope.aliyuncs.com", "api.kimi.com"),
        *("api.perplexity.ai", "router.huggingface.co", "api.venice.ai", "api.writer.com"),
        *("ai-gateway.vercel.sh", "gateway.ai.cloudflare.com", "api.cloudflare.com"),
        *("api.doubleword.ai", "api.avian.io", "api.cerebras.ai", "inference.baseten.co"),
        *("api.xiaomimimo.com", "api.hunyuan.cloud.tencent.com", "ark.cn-beijing.volces.com"),
        *("api.ai21.com", "api.cline.bot", "aihubmix.com", "opencode.ai", "text.pollinations.ai"),
    }
)
_DOMAINS: Final = (".githubcopilot.com", "aiplatform.googleapis.com")
"""Domains below which no name is a customer's."""
_BEDROCK: Final = ("bedrock-runtime.", ".amazonaws.com")


def is_public(host: str) -> bool:
    """Whether a report may name this host."""
    begin, end = _BEDROCK
    is_bedrock = host.startswith(begin) and host.endswith(end)
    return is_bedrock or host in _HOSTS or host.endswith(_DOMAINS)
