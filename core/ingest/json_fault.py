"""What is wrong with a piece of JSON, in one line with one place."""

from __future__ import annotations

import json


def json_fault(error: Exception, line: int | None = None) -> str:
    """`line 3, column 8: expecting value`. `line`: that of the file, where the JSON was one line of it."""
    if isinstance(error, RecursionError):
        what, place = "nested too deeply", f"line {line}" if line else ""
    elif isinstance(error, json.JSONDecodeError):
        what = error.msg[:1].lower() + error.msg[1:]
        place = f"line {line or error.lineno}, column {error.colno}"
    else:
        what, place = str(error), f"line {line}" if line else ""
    return f"{place}: {what}" if place else what
