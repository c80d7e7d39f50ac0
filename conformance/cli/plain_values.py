"""Values of options that need no reading: what is not given, a default, a text, a path.

typer reads every value, None too, by way of pydantic: importing that and making a reader for each
option is a quarter of the time of a short `check`. So these values are taken as they are, which is
what typer would make of them, and typer is asked for all others. Older versions of typer do without
pydantic; there nothing is done.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args, get_origin

from typer.core import TyperCommand


@dataclass(frozen=True)
class PlainValues:
    """Reads the values of one parameter; `by_typer` gives what reads them otherwise."""

    kind: Any
    is_list: bool
    takes_any_path: bool
    default: Any
    by_typer: Any

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """What typer would make of the value that the command line or a default gave."""
        several = param.multiple or param.nargs == -1
        if value is None:
            return () if several else None
        values = value if several else (value,)
        is_list = isinstance(values, tuple | list) and several is self.is_list
        if not (is_list and all(map(self._is_plain, values))):
            return self.by_typer().coerce(value, param=param, ctx=ctx)
        read = [each if each is self.default else self.kind(each) for each in values]
        return read if several else read[0]

    def itself(self) -> PlainValues:
        """Typer asks a parameter for what reads its values."""
        return self

    def _is_plain(self, value: Any) -> bool:
        if value is self.default:
            return isinstance(value, bool | int | float | str)
        if type(value) is not str or not _is_encodable(value):
            return False
        return self.kind is str or (
            self.kind is Path and self.takes_any_path and _may_be_read(value)
        )


class PlainCommand(TyperCommand):
    """A verb whose parameters take plain values as they are."""

    def get_params(self, ctx: Any) -> list[Any]:
        return taken_plainly(super().get_params(ctx))


def taken_plainly(params: list[Any]) -> list[Any]:
    """The parameters, which take plain values as they are from now on."""
    for each in params:
        descriptor = getattr(each, "type_descriptor", None)
        if descriptor is not None and "get_runtime_param" not in vars(each):
            each.get_runtime_param = _plain_values(each, descriptor).itself
    return params


def _plain_values(param: Any, descriptor: Any) -> PlainValues:
    kind, info = descriptor.annotation, descriptor.parameter_info
    is_list = get_origin(kind) is list
    is_checked = info.exists or info.resolve_path or info.writable or info.path_type
    return PlainValues(
        kind=info.parser or (get_args(kind)[0] if is_list else kind),
        is_list=is_list,
        takes_any_path=info.file_okay and info.dir_okay and not is_checked,
        default=param.default,
        by_typer=param.get_runtime_param,
    )


def _is_encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return "\0" not in text


def _may_be_read(path: str) -> bool:
    return os.access(path, os.R_OK) or not os.path.exists(path)  # noqa: PTH110  # as typer asks
