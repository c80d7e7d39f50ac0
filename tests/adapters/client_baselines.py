"""What is known of clients, as baselines: written from reports of `conformance run --client`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

BASELINES: Final = Path(__file__).parent.parent.parent / "specs" / "baselines" / "clients"
_BASELINE: Final = "What {} is known to do wrong with the shipped recordings, each replayed once."
_BASELINE_MORE: Final = ("# Adapter: tests/adapters; more in docs/client-matrix.md.",)
_SCHEMAS: Final = "Fields and events beyond the provider's schema are dropped or end the stream."
_HELPER: Final = (
    "The stream helper of Chat Completions shows no thinking, and that of Responses raises on what "
    "it does not expect."
)
_EXTRA_FIELDS: Final = (
    "The SDK has no field for thinking; what this reader takes from the extra fields is not all "
    "of it."
)
_AS_TEXT: Final = "A summary comes as text, and thinking in fields that it does not know is lost."
# Why each client breaks rules, in its baseline.
REASONS: Final = {
    "ag-ui-client": "A value that seals thinking without a text names no message, and is dropped.",
    "ai-sdk-ui-5": "A part that came with version 7 ends the message in an error.",
    "ai-sdk-ui-6": "A part that came with version 7 ends the message in an error.",
    "ai-sdk-compatible": _SCHEMAS,
    "ai-sdk-openai-chat": "The chat model of @ai-sdk/openai drops reasoning_content.",
    "ai-sdk-openai-responses": "Raw thinking is dropped; summaries come by their events alone.",
    "ai-sdk-openrouter": "The provider reads reasoning and reasoning_details alone.",
    "anthropic-node": "An error event ends the iteration of messages.stream() without an error.",
    "claude-code": "After an error in an answer that has begun it asks again, and shows every try.",
    "codex-exec": (
        "Raw thinking is hidden by default, parts of a summary are joined by a line end, and an "
        "answer that was cut short is reported as an error, without what had come of it."
    ),
    "langchain-chat": (
        "ChatOpenAI drops reasoning_content, and of Responses shows summaries alone."
    ),
    "litellm-sdk": "Thinking in fields that the SDK does not know is lost.",
    "openhands-sdk": _AS_TEXT,
    "openhands-sdk-bodies": _AS_TEXT,
    "openai-agents": (
        "An answer that was cut short is reported as an error; thinking is read from two fields, "
        "and from events."
    ),
    "openai-node-helper": _HELPER,
    "openai-node-raw": _EXTRA_FIELDS,
    "openai-python-helper": _HELPER,
    "openai-python-raw": _EXTRA_FIELDS,
    "pasted-iter-lines": (
        "The reader knows one field, one spelling of lines, and no end but [DONE]."
    ),
    "pydantic-ai": "Raw thinking of Responses goes to provider_details only.",
}


def write_baselines(folder: Path) -> None:
    """A baseline for each client that breaks a rule, in place of those of other versions."""
    for path in sorted(folder.glob("*.quick.json")):
        name = path.name.removesuffix(".quick.json")
        for old in (*BASELINES.glob(f"{name}-[0-9]*.yaml"), *BASELINES.glob(f"{name}.*.yaml")):
            old.unlink()
        streams = [s for s in json.loads(path.read_text("utf-8"))["streams"] if s["findings"]]
        if not streams:
            continue
        target = streams[0]["target"]
        broken: dict[str, set[str]] = {}
        for stream in streams:
            where = f"{stream['scenario']}/{stream['role'] or stream['exchange']}"
            for finding in stream["findings"]:
                broken.setdefault(finding["rule"], set()).add(where)
        lines = [
            f"# {_BASELINE.format(target)}",
            *_BASELINE_MORE,
            f'target: "{target}"',
            "entries:",
        ]
        for rule in sorted(broken):
            lines += [f"  - rule: {rule}", "    exchange:"]
            lines += [f"      - {where}" for where in sorted(broken[rule])]
            lines += [f'    reason: "{REASONS[name]}"']
        (BASELINES / f"{target}.yaml").write_text("\n".join(lines) + "\n", "utf-8")
