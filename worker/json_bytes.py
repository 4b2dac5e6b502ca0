"""JSON as bytes: fast, and able to carry whatever text a document holds."""

from __future__ import annotations

import json
from typing import Any

import orjson


def dumps(value: Any) -> bytes:
    try:
        return orjson.dumps(value)
    except TypeError:  # half of a surrogate pair: JSON can say it, UTF-8 cannot
        return json.dumps(value, ensure_ascii=True, separators=(",", ":"), allow_nan=False).encode()


def loads(written: bytes | str) -> Any:
    try:
        return orjson.loads(written)
    except orjson.JSONDecodeError:
        return json.loads(written)
