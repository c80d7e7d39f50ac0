"""The turn after one that called a tool, made from what its stream said."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

Fields = Mapping[str, Any]


def events(data: bytes) -> Iterator[dict[str, Any]]:
    """Payloads of a stream whose framing is known to be plain."""
    for line in data.decode(errors="replace").splitlines():
        if line.startswith("data: {"):
            yield json.loads(line.removeprefix("data: "))


def chat_turns(fields: Fields, data: bytes, result: str) -> Fields:
    """With the text, the call and its result; thinking that was wrapped is left out."""
    text, calls = "", list[dict[str, Any]]()
    for chunk in events(data):
        for choice in chunk.get("choices", ()):
            text += choice["delta"].get("content") or ""
            for piece in choice["delta"].get("tool_calls", ()):
                if piece["index"] == len(calls):
                    calls.append({"id": piece["id"], "type": "function", "function": {}})
                function = calls[-1]["function"]
                for name, more in piece["function"].items():
                    function[name] = function.get(name, "") + more
    is_wrapped = text.startswith(("<", "["))
    spoken = None if is_wrapped or not text else text
    turn = {"role": "assistant", "content": spoken, "tool_calls": calls}
    answers = [{"role": "tool", "tool_call_id": call["id"], "content": result} for call in calls]
    return {**fields, "messages": [*fields["messages"], turn, *answers]}


def responses_turns(fields: Fields, data: bytes, result: str) -> Fields:
    """With every closed item, and the result of the call."""
    items = [e["item"] for e in events(data) if e["type"] == "response.output_item.done"]
    calls = [item["call_id"] for item in items if item["type"] == "function_call"]
    output = [{"type": "function_call_output", "call_id": c, "output": result} for c in calls]
    return {**fields, "input": [*fields["input"], *items, *output]}


def messages_turns(fields: Fields, data: bytes, result: str) -> Fields:
    """With every closed block as it was put together, and the result of the call."""
    blocks: dict[int, dict[str, Any]] = {}
    closed: set[int] = set()
    for event in events(data):
        if event["type"] == "content_block_start":
            blocks[event["index"]] = dict(event["content_block"])
        elif event["type"] == "content_block_delta":
            _add(blocks[event["index"]], event["delta"])
        elif event["type"] == "content_block_stop":
            closed.add(event["index"])
    blocks = {index: block for index, block in blocks.items() if index in closed}
    calls = [block["id"] for block in blocks.values() if block["type"] == "tool_use"]
    results = [{"type": "tool_result", "tool_use_id": c, "content": result} for c in calls]
    turns = [
        {"role": "assistant", "content": list(blocks.values())},
        {"role": "user", "content": results},
    ]
    # The API refuses turns without content: of an answer that broke off nothing goes back.
    kept = [turn for turn in turns if turn["content"]]
    return {**fields, "messages": [*fields["messages"], *kept]}


def _add(block: dict[str, Any], delta: Mapping[str, Any]) -> None:
    if delta["type"] == "input_json_delta":
        with suppress(ValueError):  # a defect may tear it
            block["input"] = json.loads(delta["partial_json"])
        return
    field = delta["type"].removesuffix("_delta")
    block[field] = block.get(field, "") + delta[field]


def cohere_turns(fields: Fields, data: bytes, result: str) -> Fields:
    """With the blocks and calls put together, and the results of the calls."""
    blocks: list[dict[str, Any]] = []
    calls: list[dict[str, Any]] = []
    for event in events(data):
        message = event.get("delta", {}).get("message", {})
        if event["type"] == "content-start":
            blocks.append(dict(message["content"]))
        elif event["type"] == "content-delta":
            for key, text in message["content"].items():
                blocks[-1][key] = blocks[-1].get(key, "") + text
        elif event["type"] == "tool-call-start":
            calls.append(json.loads(json.dumps(message["tool_calls"])))
        elif event["type"] == "tool-call-delta" and calls:
            function = message["tool_calls"]["function"]
            calls[-1]["function"]["arguments"] += function["arguments"]
    turn = {"role": "assistant", "content": blocks, "tool_calls": calls}
    results = [{"role": "tool", "tool_call_id": call["id"], "content": result} for call in calls]
    return {**fields, "messages": [*fields["messages"], turn, *results]}


def mistral_turns(fields: Fields, data: bytes, result: str) -> Fields:
    """With the text, the thinking as a part, the calls, and their results."""
    thought, text, calls = "", "", list[dict[str, Any]]()
    for chunk in events(data):
        for choice in chunk.get("choices", ()):
            content = choice["delta"].get("content")
            for part in content if isinstance(content, list) else ():
                thought += "".join(piece["text"] for piece in part["thinking"])
            text += content if isinstance(content, str) else ""
            calls += choice["delta"].get("tool_calls", ())
    thinking_first = [
        {"type": "thinking", "thinking": [{"type": "text", "text": thought}], "closed": True}
    ]
    spoken = [{"type": "text", "text": text}] if text else []
    turn = {
        "role": "assistant",
        "content": [*thinking_first, *spoken] if thought else text,
        "tool_calls": calls,
    }
    results = [{"role": "tool", "tool_call_id": call["id"], "content": result} for call in calls]
    return {**fields, "messages": [*fields["messages"], turn, *results]}


def interactions_turns(fields: Fields, data: bytes, result: str) -> Fields:
    """With the steps put together, and the results of the calls."""
    steps: dict[int, dict[str, Any]] = {}
    for event in events(data):
        if event["event_type"] == "step.start":
            steps[event["index"]] = dict(event["step"])
        elif event["event_type"] == "step.delta" and event["index"] in steps:
            _add_to_step(steps[event["index"]], event["delta"])
    calls = [step["id"] for step in steps.values() if step["type"] == "function_call"]
    results = [{"type": "function_result", "call_id": c, "result": result} for c in calls]
    return {**fields, "input": [*fields["input"], *steps.values(), *results]}


def _add_to_step(step: dict[str, Any], delta: Mapping[str, Any]) -> None:
    match delta["type"]:
        case "thought_signature":
            step["signature"] = delta["signature"]
        case "thought_summary":
            step.setdefault("summary", []).append(delta["content"])
        case "text":
            step.setdefault("content", []).append(delta)
        case "arguments_delta":
            with suppress(ValueError):  # a defect may tear it
                step["arguments"] = json.loads(delta["arguments"])


def gemini_turns(fields: Fields, data: bytes, result: str) -> Fields:
    """With the parts as they came, and the results of the calls."""
    parts = [
        part
        for chunk in events(data)
        for candidate in chunk.get("candidates", ())
        for part in candidate["content"]["parts"]
        if part != {"text": ""}
    ]
    names = [part["functionCall"].get("name", "") for part in parts if "functionCall" in part]
    results = [
        {"functionResponse": {"name": name, "response": {"result": result}}} for name in names
    ]
    turns = [{"role": "model", "parts": parts}, {"role": "user", "parts": results}]
    return {**fields, "contents": [*fields["contents"], *turns]}


def converse_turns(fields: Fields, data: bytes, result: str) -> Fields:
    """With the blocks put together, and the results of the calls."""
    blocks: dict[int, dict[str, Any]] = {}
    for event in _messages(data):
        index = event.get("contentBlockIndex", 0)
        if use := event.get("start", {}).get("toolUse"):
            blocks[index] = {"toolUse": {**use, "input": ""}}
        elif "delta" in event:
            _add_to_block(blocks.setdefault(index, {}), event["delta"])
    calls = [block["toolUse"] for block in blocks.values() if "toolUse" in block]
    for call in calls:
        text, call["input"] = call["input"], {}  # a defect may tear it
        with suppress(ValueError, TypeError):
            call["input"] = json.loads(text)
    results = [
        {"toolResult": {"toolUseId": call["toolUseId"], "content": [{"text": result}]}}
        for call in calls
        if "toolUseId" in call
    ]
    turns = [
        {"role": "assistant", "content": list(blocks.values())},
        {"role": "user", "content": results},
    ]
    return {**fields, "messages": [*fields["messages"], *turns]}


def _messages(data: bytes) -> Iterator[dict[str, Any]]:
    """Payloads of binary messages: two lengths and a checksum first, another one last."""
    at = 0
    while at < len(data):
        whole, headers = struct.unpack(">II", data[at : at + 8])
        yield json.loads(data[at + 12 + headers : at + whole - 4])
        at += whole


def _add_to_block(block: dict[str, Any], delta: Mapping[str, Any]) -> None:
    if "text" in delta:
        block["text"] = block.get("text", "") + delta["text"]
    elif "toolUse" in delta:
        use = block.setdefault("toolUse", {"input": ""})
        use["input"] += delta["toolUse"]["input"]
    else:
        reasoned = block.setdefault("reasoningContent", {}).setdefault("reasoningText", {})
        thought = delta["reasoningContent"]
        for key, text in thought.get("reasoningText", thought).items():
            reasoned[key] = reasoned.get(key, "") + text


def ollama_turns(fields: Fields, data: bytes, result: str) -> Fields:
    """With the message put together, and the results of its calls."""
    turn: dict[str, Any] = {"role": "assistant", "content": "", "thinking": "", "tool_calls": []}
    for line in data.decode(errors="replace").splitlines():
        with suppress(ValueError):  # a defect may tear it
            for name, value in json.loads(line).get("message", {}).items():
                turn[name] = value if name == "role" else turn[name] + value
    results = [
        {"role": "tool", "tool_name": call["function"]["name"], "content": result}
        for call in turn["tool_calls"]
    ]
    return {**fields, "messages": [*fields["messages"], turn, *results]}
