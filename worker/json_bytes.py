"""JSON as bytes: fast, and able to carry any text of a document, lone surrogates included."""

from __future__ import annotations

import json
from typing import Any

import orjson


def dumps(value: Any) -> bytes:
    try:
        return orjson.dumps(value)
    except TypeError:  # a lone surrogate: JSON can escape it, UTF-8 cannot encode it
        return json.dumps(value, ensure_ascii=True, separators=(",", ":"), allow_nan=False).encode()


def loads(data: bytes | str) -> Any:
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        return json.loads(data)
