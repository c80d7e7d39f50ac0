"""A recording whose every text tries to break out of a report."""

from __future__ import annotations

import json
from pathlib import Path

BREAKOUTS = (
    "</script><script>window.pwned=1</script>",
    "--><img src=x onerror=window.pwned=1>",
    "\"'><svg onload=window.pwned=1>",
    "line\u2028separator\u2029paragraph",
    "\u202ereversed\u2066isolated\u2069",
    "]]></pre></li></ol></figure></details><base href='http://127.0.0.1/'>",
    "\x1b[31mred\x1b[0m\x07\r\n::error::injected",
    "```\n# heading\n[link](javascript:window.pwned=1) @everyone #1 |cell|",
    "\x00 \ufeff \U000e0001",
)


def hostile_recording(folder: Path) -> Path:
    """Writes the cassette: roles, ids, types and texts hold breakouts, and rules fail on them."""
    text = " ".join(BREAKOUTS)
    events = []
    for number, each in enumerate(BREAKOUTS):
        delta = {"role": each, "content": f"<think>{each}</think>"}
        choice = {"index": number if number < 2 else each, "delta": delta, "finish_reason": each}
        chunk = {"id": each, "object": each, "created": 1, "model": each, "choices": [choice]}
        events.append(f"data: {json.dumps(chunk)}\n\n")
    events.append(f"event: {text.encode('unicode_escape').decode()}\ndata: {text!r}\n\n")
    events.append(f": {json.dumps(text)}\n\n")
    request = {
        "method": "POST",
        "path": f"/v1/{BREAKOUTS[0]}",
        "headers": [
            [BREAKOUTS[2], BREAKOUTS[1]],
            ["authorization", "Bearer sk-1234567890abcdef12"],
        ],
        "json": {"model": text, "messages": [{"role": "user", "content": text}]},
    }
    lines = [
        {
            "cassette": "1.0",
            "dialect": "openai.chat",
            "profile": "strict",
            "target": {"name": text},
        },
        {"request": request, "scenario": BREAKOUTS[1], "role": BREAKOUTS[0]},
        {"response": {"status": 200, "headers": [["content-type", "text/event-stream"]]}},
        *({"ms": 1.5, "text": event} for event in events),
        {"end": "reset"},
    ]
    file = folder / "hostile.cassette.jsonl"
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    return file
