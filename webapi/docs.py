"""/docs: the API described on one page, with nothing fetched from anywhere."""

from __future__ import annotations

import json
from functools import cache
from html import escape
from typing import Any

from flask import Blueprint, Response

from webapi.openapi import description

blueprint = Blueprint("docs", __name__)

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'"
_STYLE = """
body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1b1b1b;background:#fff}
h2{margin-top:2rem;font-size:1.1rem}code,pre{font:14px/1.4 ui-monospace,monospace}
pre{background:#f4f4f4;padding:.75rem;overflow:auto}summary{cursor:pointer}
.method{display:inline-block;min-width:4.5rem;font-weight:600;text-transform:uppercase}
@media(prefers-color-scheme:dark){body{color:#eee;background:#161616}pre{background:#242424}a{color:#8ab4f8}}
"""


@blueprint.get("/docs")
def page() -> Response:
    response = Response(_page(), mimetype="text/html")
    response.headers["Content-Security-Policy"] = _POLICY
    return response


@cache
def _page() -> str:
    whole = description()
    parts = [f"<p>{escape(whole['info']['description'])} As a file: <a href='/v1/openapi.json'>openapi.json</a>.</p>"]
    for path, operations in whole["paths"].items():
        parts += [_operation(method, path, one) for method, one in operations.items()]
    parts.append("<h2>Schemas</h2>")
    parts += [_schema(name, schema) for name, schema in whole["components"]["schemas"].items()]
    return (
        "<!doctype html><html lang='en'><meta charset='utf-8'><meta name='viewport' content='width=device-width'>"
        f"<title>PhraseCom API</title><style>{_STYLE}</style><h1>PhraseCom API</h1>{''.join(parts)}</html>"
    )


def _operation(method: str, path: str, one: dict[str, Any]) -> str:
    said = [f"<h2><span class='method'>{method}</span> <code>{escape(path)}</code></h2><p>{escape(one['summary'])}</p>"]
    if "requestBody" in one:
        said.append(f"<p>Takes {_link(one['requestBody']['content']['application/json']['schema'])}.</p>")
    rows = []
    for status, response in one["responses"].items():
        content = next(iter(response.get("content", {}).values()), None)
        rows.append(
            f"<li><code>{status}</code> {escape(response['description'])} {_link(content['schema']) if content else ''}"
        )
    return "".join(said) + f"<ul>{''.join(rows)}</ul>"


def _link(schema: dict[str, Any]) -> str:
    name = schema["$ref"].rpartition("/")[2]
    return f"<a href='#{name}'><code>{name}</code></a>"


def _schema(name: str, schema: dict[str, Any]) -> str:
    written = escape(json.dumps(schema, indent=1, ensure_ascii=False))
    return f"<details id='{name}'><summary><code>{name}</code></summary><pre>{written}</pre></details>"
