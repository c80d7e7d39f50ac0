"""An adapter that does on command what adapters must not do: `python client_fake.py MODE`."""

from __future__ import annotations

import http.client
import json
import os
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from typing import Any

ABOUT = {
    "name": "fake",
    "language": "python",
    "version": "1",
    "dialects": ["openai.chat"],
    "ops": ["stream"],
    "events": ["text.delta"],
}


def write_line(line: object) -> None:
    sys.stdout.write((line if isinstance(line, str) else json.dumps(line)) + "\n")
    sys.stdout.flush()


def misbehave(seq: str, mode: str) -> None:
    if mode == "hangs":
        sys.stdin.read()
    if mode in ("crashes", "crashes-and-loads"):
        sys.stderr.write("the last words\n")
        os._exit(7)
    if mode == "floods":
        while True:
            write_line({"seq": seq, "event": {"type": "text.delta", "text": "x" * 1000}})
    if mode == "long-line":
        sys.stdout.write("x" * 10_000_000)
        sys.stdout.flush()
    if mode == "prints":
        write_line("Loading checkpoint shards")
    if mode == "undeclared":
        write_line({"seq": seq, "event": {"type": "thinking.delta", "text": "hm"}})
    if mode == "no-text":
        write_line({"seq": seq, "event": {"type": "text.delta", "text": 7}})
    if mode == "other-seq":
        write_line({"seq": f"{seq}0", "end": {"how": "completed"}})


HELLO = "What is 2 + 2?"  # of the short case before and after all others


def is_due(mode: str, command: dict[str, Any]) -> bool:
    """Whether a mode like `later-crashes` shows in this case.

    `later` is in all but the short one, `second` in every second one, `last` in the short one that
    comes after all others.
    """
    STATE["cases"] += 1
    is_short = [each.get("content") for each in command["messages"]] == [HELLO]
    when = mode.partition("-")[0]
    if when == "last":
        return is_short and STATE["cases"] > 1
    return not is_short and (when == "later" or (when == "second" and STATE["cases"] % 2 == 0))


STATE = {"cases": 0}


def stream(command: dict[str, Any], mode: str) -> None:
    if mode in ("loads", "second-crashes-and-loads") and not STATE["cases"]:
        threading.Event().wait(0.8)
    seq = command["seq"]
    due = mode.partition("-")[2] if is_due(mode, command) else mode
    misbehave(seq, due)
    if due == "says-why":
        end = {"how": "failed", "message": "TypeError: no such model claude-9"}
        write_line({"seq": seq, "end": end})
        return
    if mode == "refuses" or (mode == "reads-no-tags" and "markers" in command["options"]):
        write_line({"seq": seq, "skipped": "not today"})
        return
    try:
        text = "" if mode == "deaf" else asked(command, streams=due != "asks-whole")
    except (OSError, http.client.HTTPException, ValueError, LookupError) as err:
        write_line({"seq": seq, "end": {"how": "failed", "message": type(err).__name__}})
        return
    while due == "loops":  # each answer has the calls again
        text = asked(command, streams=True)
    if due == "looks-up":  # prices, when the answer is whole
        urllib.request.urlopen(command["base_url"] + "/models").read()
    if due == "fails":
        sys.stderr.write(f"the trace of case {seq}\n")
        sys.stderr.flush()
        write_line({"seq": seq, "end": {"how": "failed", "message": "the client's own\nwords"}})
        return
    if text:
        write_line({"seq": seq, "event": {"type": "text.delta", "text": text}})
    write_line({"seq": seq, "end": {"how": "completed"}})


def asked(command: dict[str, Any], *, streams: bool) -> str:
    body = json.dumps({"stream": streams}).encode()
    url = command["base_url"] + "/chat/completions"
    texts = []
    try:
        answer = urllib.request.urlopen(urllib.request.Request(url, body))
    except urllib.error.HTTPError:
        return ""
    with answer:
        for line in answer:
            if line.startswith(b"data: {"):
                choices = json.loads(line[6:])["choices"]
                texts += [choice["delta"].get("content") or "" for choice in choices]
    return "".join(texts)


def main(mode: str) -> None:
    if mode == "children":
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        sys.stderr.write(f"child {child.pid}\n")
        sys.stderr.flush()
    for line in sys.stdin:
        command = json.loads(line)
        if command["cmd"] == "start":
            write_line({"errored": {"message": "too new"}} if mode == "old" else introduction(mode))
        elif command["cmd"] == "stream":
            stream(command, mode)
        elif command["cmd"] == "stop":
            if mode == "talks-on":
                write_line({"seq": "1", "end": {"how": "cut"}})
            return
        elif mode == "obeys-all":
            write_line({"seq": command["seq"], "end": {"how": "completed"}})
        else:
            write_line({"seq": command["seq"], "skipped": "unknown"})


def introduction(mode: str) -> dict[str, Any]:
    about = {**ABOUT, "ops": ["stream", "levitate"]} if mode == "levitates" else ABOUT
    if mode == "speaks-cohere":
        about = {**ABOUT, "dialects": ["cohere.chat"]}
    return {"version": 1, "implementation": about}


if __name__ == "__main__":
    main(sys.argv[1])
