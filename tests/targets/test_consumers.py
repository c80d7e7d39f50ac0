"""Consumers of what applications send are clients, too: they show what was sent."""

from __future__ import annotations

import sys
from pathlib import Path

from conformance.core.shipped import cassettes
from conformance.rules.verdicts import Verdict
from conformance.targets.client import ClientOptions, run_client

CONSUMER = [sys.executable, str(Path(__file__).with_name("consumer_of_ui_messages.py"))]


def test_an_interface_shows_what_an_application_sent() -> None:
    recorded = cassettes() / "vercel.ui/ai-sdk/thinking-then-text.cassette.jsonl"
    ran = run_client(CONSUMER, [recorded], ClientOptions(extent="quick"))
    assert ran.report.verdicts["thinking/client/agrees-with-wire"] is Verdict.PASS
    assert [(f.rule, f.message) for f in ran.report.findings] == []
