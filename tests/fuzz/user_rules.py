"""Rules that a user might write about deltas: every form, reading columns and reading none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from conformance.judging.rulebook import Rulebook
from conformance.judging.suites import dialect_vocabulary
from conformance.judging.view import JudgeSetting
from conformance.rules.document import parse
from conformance.rules.load import read_suite
from tests.fuzz.both import setting_for
from tests.fuzz.dialogues import PROFILES, compact

Rules = Mapping[str, Mapping[str, Any]]
MOST_TEXT: Final = 4


@dataclass(frozen=True, slots=True)
class Places:
    """Where a dialect's deltas stand: their type, and paths of what they hold."""

    delta: str
    text: str
    holder: str
    fixed: str  # a path with the same value in all deltas of a run
    opening: str
    closing: str
    number: str = "sequence_number"  # may lead nowhere: then the rules have nothing to read


PLACES: Final[Mapping[str, Places]] = {
    "openai.responses": Places(
        "response.output_text.delta",
        "delta",
        "item",
        "item_id",
        "response.output_item.added",
        "response.output_text.done",
    ),
    "openai.chat": Places(
        "chat.choice", "delta.content", "delta", "choice", "thinking.start", "finish"
    ),
    "anthropic.messages": Places(
        "content_block_delta",
        "delta.text",
        "delta",
        "index",
        "content_block_start",
        "content_block_stop",
    ),
}


def events(at: Places) -> Mapping[str, Any]:
    """Names for deltas: bare, with conditions that hold for all, for some and for none."""
    return {
        "d": at.delta,
        "long": {"type": at.delta, at.text: {"minLength": MOST_TEXT}},
        "any": {"type": at.delta, at.text: {"type": "string", "minLength": 1}},
        "so": {"type": at.delta, at.text: " so"},
        "fixed": {"type": at.delta, at.fixed: {"not": {"absent": True}}},
        "padded": {"type": at.delta, "obfuscation": {"type": "string", "minLength": 1}},
        "second": {"type": at.delta, at.number: 20},
        "equal": {"type": at.delta, at.text: {"field": at.fixed}},
        "above": {"type": at.delta, at.number: {"above": 12}},
        "added": {"type": at.delta, at.number: {"sum": [at.number, at.fixed]}},
        "not.so": {"type": at.delta, at.text: {"not": [" so", {"absent": True}]}},
        "opening": at.opening,
        "closing": at.closing,
        "think": "thinking.delta",
        "text": "text.delta",
        "frame": "sse.frame",
        "comment": "sse.comment",
        "named": {"type": "sse.frame", "data": {"pattern": "answer"}},
        "told": {"type": "text.delta", "text": {"pattern": "quoted"}},
    }


def rules(at: Places) -> Rules:
    """Rules by id; each says what it reads."""
    return {**order(at), **fields(at), **folds(at), **times(), **comparisons(at)}


def order(at: Places) -> Rules:
    return {
        "grammar-once": {"grammar": "d{2,3}"},
        "grammar-many": {"grammar": "(opening | d | closing)*"},
        "grammar-plus": {"slice": [at.fixed], "grammar": "d+"},
        "grammar-told": {"grammar": "(long | so | d)+ closing*"},
        "grammar-frames": {"grammar": "(frame | comment | d)*"},
        "never-bare": {"never": "so"},
        "never-after": {"never": "so", "after": "long"},
        "never-until": {"never": "d", "until": "opening"},
        "never-after-delta": {"never": "closing", "after": "d"},
        "never-delta-after": {"never": "d", "after": "closing"},
        "never-between": {"never": "told", "after": "opening", "until": "closing"},
        "never-frame": {"never": "named", "after": "think"},
        "never-second": {"never": "second"},
        "never-above": {"never": "above"},
        "never-added": {"never": "added"},
        "never-equal": {"never": "equal"},
        "never-padded": {"never": "padded"},
        "response-delta": {"response": {"when": "d", "then": "closing"}},
        "response-text": {"response": {"when": "so", "then": "d", "before": "closing"}},
        "response-before": {"response": {"when": "opening", "then": "d", "before": "so"}},
        "response-slice": {"slice": [at.fixed], "response": {"then": "d"}},
    }


def fields(at: Places) -> Rules:
    return {
        "values-distinct": {"values": {"of": "d", "path": at.text, "are": "distinct"}},
        "values-constant": {"values": {"of": "d", "path": at.text, "are": "constant"}},
        "values-fixed": {"values": {"of": "d", "path": at.fixed, "are": "constant"}},
        "values-rising": {"values": {"of": "any", "path": at.number, "are": "rising"}},
        "values-not-falling": {"values": {"of": "any", "path": at.number, "are": "not_falling"}},
        "values-contiguous": {
            "values": {"of": "d", "path": at.number, "are": "contiguous", "start": 12}
        },
        "values-text-rising": {"values": {"of": "d", "path": at.text, "are": "rising"}},
        "values-frames": {
            "values": {"of": "frame", "path": f"json.{at.number}", "are": "contiguous"}
        },
        "values-holder": {"values": {"of": "d", "path": at.holder, "are": "constant"}},
        "each-long": {"each": {"of": "d", "schema": nested(at.text, {"minLength": 2})}},
        "each-any": {"each": {"of": "d", "schema": nested(at.text, {"minLength": 1})}},
        "each-fixed": {"each": {"of": "d", "schema": nested(at.fixed, {"type": "string"})}},
        "each-shape": {"each": {"of": "d", "schema": {"maxProperties": 7}}},
    }


def folds(at: Places) -> Rules:
    return {
        "fold-concat": {"fold": {"over": "d", "take": at.text, "matches": "so the"}},
        "fold-equals": {
            "fold": {"over": "d", "take": at.text, "equals": {"in": "closing", "path": "text"}}
        },
        "fold-count": {"fold": {"over": "any", "with": "count", "at_least": 20}},
        "fold-count-slice": {
            "slice": [at.fixed],
            "fold": {"over": "d", "with": "count", "at_least": 3, "at": "closing"},
        },
        "fold-sum": {"fold": {"over": "d", "take": at.number, "with": "sum", "at_least": 90}},
        "fold-json": {"fold": {"over": "text", "take": "text", "with": "json"}},
        "fold-lacks": {
            "fold": {"over": "text", "take": "text", "lacks": ["</think>", "answer is"]}
        },
        "fold-lacks-thinking": {
            "fold": {
                "over": "text",
                "take": "text",
                "lacks": {"over": "think", "take": "text", "at_least": 12},
            }
        },
        "fold-lacks-values": {
            "fold": {
                "over": "text",
                "take": "text",
                "lacks": {"over": "think", "take": "text", "with": "list", "at_least": 12},
            }
        },
        "fold-lacks-frames": {"fold": {"over": "frame", "take": "data", "lacks": ["so the"]}},
        "fold-grows": {"fold": {"over": "d", "take": at.text, "grows": False}},
    }


def times() -> Rules:
    return {
        "timing-gap": {"timing": {"of": "d", "largest_gap": 5000}},
        "timing-within": {"timing": {"of": "d", "start": "opening", "within": 30}},
        "timing-first": {"timing": {"of": "text", "within": 100}},
        "timing-comment": {"timing": {"of": "comment", "largest_gap": 5000}},
    }


def comparisons(at: Places) -> Rules:
    rule = {"role": "plain", "over": ["think", "text"], "take": "text", "with": "merged"}
    return {
        "compare-merged": {"compare": {"left": rule, "right": dict(rule), "are": "equal"}},
        "compare-concat": {
            "compare": {
                "left": {"role": "plain", "over": "text", "take": "text"},
                "right": {"role": "plain", "over": "d", "take": at.text},
                "are": "equal",
            }
        },
    }


def nested(path: str, schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """A JSON Schema for an object that holds `schema` at a dotted path."""
    for name in reversed(path.split(".")):
        schema = {"properties": {name: dict(schema)}}
    return schema


def rulebook(dialect: str, chosen: Rules, names: Mapping[str, Any]) -> Rulebook:
    common = {"level": "MUST", "says": "So it is.", "since": "0.1.0", "source": {"advice": "a"}}
    document = {
        "suite": "user",
        "dialect": dialect,
        "events": dict(names),
        "rules": [{"id": name, **common, **rule} for name, rule in chosen.items()],
    }
    return Rulebook([read_suite(parse(compact(document), "user.yaml"), dialect_vocabulary)])


@cache
def user_setting(dialect: str, rule: str) -> JudgeSetting:
    """One user rule alone: the others would end its runs."""
    at = PLACES[dialect]
    return setting_for(
        dialect, PROFILES[dialect], rulebook(dialect, {rule: rules(at)[rule]}, events(at))
    )


@cache
def shipped_setting(dialect: str) -> JudgeSetting:
    return setting_for(dialect, PROFILES[dialect], Rulebook.load())


IDS: Final = tuple(rules(PLACES["openai.chat"]))
