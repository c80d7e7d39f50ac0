"""Rows as observability tools store them, where they hold the bytes that came.

LiteLLM writes its `StandardLoggingPayload` (https://docs.litellm.ai/docs/proxy/logging_spec): the
`response` of a pass-through endpoint is `{"response": text}`, the body as it came; any other is the
answer as LiteLLM parsed it. Langfuse exports observations whose `output` is what an SDK made of an
answer, or the body where an application stored that. OTLP in JSON has spans whose attributes may
hold a body; `gen_ai.*` attributes hold what was parsed. What was parsed cannot be judged: each
such row is reported.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from conformance.corpus.columns import ColumnNames, kept_values, value_at

Row = dict[str, Any]

_OF_LITELLM: Final = frozenset({"call_type", "response_cost", "messages", "response"})
_OF_LANGFUSE: Final = (
    frozenset({"trace_id", "type", "input", "output"}),
    frozenset({"traceId", "type", "input", "output"}),
)
_OF_OTLP: Final = "resourceSpans"
# Names under which collectors and applications store bodies: no convention names one.
_BODIES: Final = ("http.response.body.content", "http.response.body")
_REQUESTS: Final = ("http.request.body.content", "http.request.body")
_PARSED: Final = ("gen_ai.", "llm.")
_STREAMS: Final = ("data:", "event:", "id:", "retry:", ":")
_VALUES: Final = ("stringValue", "intValue", "doubleValue", "boolValue")

PARSED: Final = "{} keeps the answer as it parsed it, not the bytes that came"


def is_stored_payload(row: Mapping[str, Any]) -> bool:
    """Whether a row is one of a tool that is known."""
    return row.keys() >= _OF_LITELLM or _is_of_langfuse(row) or _OF_OTLP in row


def _is_of_langfuse(row: Mapping[str, Any]) -> bool:
    return any(row.keys() >= keys for keys in _OF_LANGFUSE)


def begins_like_stream(text: str) -> bool:
    return text.lstrip().startswith(_STREAMS)


def payload_rows(row: Row, columns: ColumnNames) -> Iterator[Row | str]:
    """The rows of streams that a stored payload holds, or why one is none; others as they are."""
    if _OF_OTLP in row:
        yield from _otlp_rows(row, columns)
    elif value_at(row, columns.body) is not None:
        yield row
    elif row.keys() >= _OF_LITELLM:
        yield _litellm_row(row, columns)
    elif _is_of_langfuse(row):
        yield _langfuse_row(row, columns)
    else:
        yield row


def _litellm_row(row: Row, columns: ColumnNames) -> Row | str:
    response = row.get("response")
    body = response.get("response") if isinstance(response, Mapping) else response
    if not isinstance(body, str):
        return PARSED.format("LiteLLM")
    return {
        **kept_values(row, columns),
        columns.body: body,
        columns.id: row.get("id"),
        columns.provider: row.get("custom_llm_provider") or row.get("api_base"),
        columns.model: row.get("model"),
        columns.time: row.get("startTime"),
    }


def _langfuse_row(row: Row, columns: ColumnNames) -> Row | str:
    body = row.get("output")
    if not isinstance(body, str) or not begins_like_stream(body):
        return PARSED.format("Langfuse")
    request = row.get("input")
    return {
        **kept_values(row, columns),
        columns.body: body,
        columns.id: row.get("id"),
        columns.request: request if isinstance(request, Mapping) else None,
        columns.model: row.get("provided_model_name") or row.get("model"),
        columns.time: row.get("start_time") or row.get("startTime"),
    }


def _otlp_rows(row: Row, columns: ColumnNames) -> Iterator[Row | str]:
    for span, shared in _spans(row):
        values = _attributes(span)
        body = _first(values, (columns.body, *_BODIES))
        if isinstance(body, str):
            yield {
                **kept_values(shared, columns),
                **values,
                columns.body: body,
                columns.id: values.get(columns.id) or span.get("spanId"),
                columns.request: _first(values, (columns.request, *_REQUESTS)),
                columns.status: values.get("http.response.status_code"),
                columns.provider: _first(
                    values, (columns.provider, "gen_ai.provider.name", "gen_ai.system")
                ),
                columns.model: _first(
                    values, (columns.model, "gen_ai.response.model", "gen_ai.request.model")
                ),
                columns.time: _nanoseconds(span.get("startTimeUnixNano")),
            }
        elif any(name.startswith(_PARSED) for name in values):
            yield PARSED.format("the span")


def _nanoseconds(value: Any) -> Any:
    """A number spelled as text, as OTLP has it; anything else as it is, and its row is reported."""
    try:
        return int(value or 0) or None
    except (TypeError, ValueError, OverflowError):
        return value


def _spans(row: Row) -> Iterator[tuple[Mapping[str, Any], Row]]:
    """The spans, each with the attributes of its resource."""
    for group in _objects(row.get(_OF_OTLP)):
        resource = group.get("resource")
        shared = _attributes(resource) if isinstance(resource, Mapping) else {}
        for scope in _objects(group.get("scopeSpans")):
            for span in _objects(scope.get("spans")):
                yield span, shared


def _objects(value: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(value, list):
        yield from (each for each in value if isinstance(each, Mapping))


def _attributes(holder: Mapping[str, Any]) -> Row:
    found: Row = {}
    for each in _objects(holder.get("attributes")):
        value = each.get("value")
        if isinstance(value, Mapping):
            found[str(each.get("key"))] = _first(value, _VALUES)
    return found


def _first(values: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    return next((values[name] for name in names if values.get(name) is not None), None)
