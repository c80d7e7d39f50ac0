"""The tool that the client runs itself: sums, and nothing else that a model might write."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from typing import Any, Final

from .payload import decode, object_of

Number = int | float
TOOL: Final[Mapping[str, Any]] = {
    "type": "function",
    "function": {
        "name": "calculator",
        "description": "Works out an arithmetic expression.",
        "parameters": {
            "type": "object",
            "properties": {"expression": {"type": "string"}},
            "required": ["expression"],
        },
    },
}
NAME: Final = "calculator"
MOST_CHARACTERS: Final = 200
_OPERATORS: Final[Mapping[type[ast.operator], Callable[[Number, Number], Number]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


def calculate(arguments: str) -> str:
    """The result as text, or what is wrong with the arguments: the model reads either."""
    expression = object_of(decode(arguments)).get("expression")
    if not isinstance(expression, str) or len(expression) > MOST_CHARACTERS:
        return f"error: expected an expression of at most {MOST_CHARACTERS} characters"
    try:
        return f"{_value_of_node(ast.parse(expression.strip(), mode='eval').body):.12g}"
    except (ValueError, SyntaxError, ArithmeticError, RecursionError, MemoryError) as err:
        return f"error: {err}"


def _value_of_node(node: ast.expr) -> Number:
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        number: Number = node.value  # type: ignore[assignment]  # mypy does not read type(...) in
        return number
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_value_of_node(node.operand)
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        return _OPERATORS[type(node.op)](_value_of_node(node.left), _value_of_node(node.right))
    raise ValueError("only numbers, + - * / and brackets")
