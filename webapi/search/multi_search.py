"""Several searches in one request, each with a response or an error of its own; one job finds the reasons of all."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from indexer.errors import BadParameter, PhraseComError, TooLarge
from indexer.identifiers import check_index_name
from webapi.auth.gate import check_index_access
from webapi.context import WebContext
from webapi.http.problems import make_search_error
from webapi.search.body import reject_unknown_names, require_object, wrap_in_list
from webapi.search.hit_reasons import UnexplainedSearch, explain_searches
from webapi.search.index_search import search_index
from worker.access import Caller
from worker.json_bytes import loads

_INDEX_NAMES = ("index", "indices")
HEADER_PARAMETERS = frozenset(
    {
        "allow_no_indices",
        "allow_partial_search_results",
        "ccs_minimize_roundtrips",
        "expand_wildcards",
        "ignore_throttled",
        "ignore_unavailable",
        "preference",
        "request_cache",
        "routing",
        "search_type",
    }
)
"""What a header line may say besides the index."""


@dataclass(frozen=True, slots=True)
class SearchLines:
    """One search of the request: a header line, which may be empty, and a body line."""

    header: bytes
    body: bytes


def split_search_lines(data: bytes, max_searches: int) -> list[SearchLines]:
    """Split the body of a request; raise BadParameter for one that is cut off, TooLarge for too many searches."""
    if not data.endswith(b"\n"):
        raise BadParameter("the last line does not end with a newline", fix="end each header and each body with one")
    lines = [line.strip() for line in data[:-1].split(b"\n")]
    if len(lines) % 2 and not lines[-1]:
        lines.pop()
    if not lines or len(lines) % 2:
        raise BadParameter("the last header has no body", fix="send a line with a header and one with a body by turns")
    if len(lines) > 2 * max_searches:
        raise TooLarge(f"{len(lines) // 2} searches are above the limit of {max_searches}", fix="send fewer at a time")
    return [SearchLines(header, body) for header, body in zip(lines[::2], lines[1::2], strict=True)]


def run_searches(
    searches: Sequence[SearchLines],
    index: str | None,
    caller: Caller,
    context: WebContext,
    wait: float,
    count_search: Callable[[], None],
) -> list[dict[str, Any]]:
    """Run the searches and return their responses, with ``status``; a search that fails has its error instead.

    ``index``: for headers that name none. ``count_search`` is called before each search but the first, and raises
    RateLimited for one that is too many.
    """
    outcomes: list[UnexplainedSearch | PhraseComError] = []
    for n, lines in enumerate(searches):
        try:
            if n:
                count_search()
            name = _find_index(lines, index, caller)
            outcomes.append(search_index(name, _parse_line(lines.body, "body"), caller, context))
        except PhraseComError as error:
            outcomes.append(error)
    found = [one for one in outcomes if isinstance(one, UnexplainedSearch)]
    whys = iter(explain_searches(context.gateway, found, caller, wait))
    return [
        make_search_error(one) if isinstance(one, PhraseComError) else _build_response(one, next(whys))
        for one in outcomes
    ]


def _build_response(search: UnexplainedSearch, whys: Sequence[dict[str, Any]]) -> dict[str, Any]:
    try:
        return search.build_response(whys) | {"status": 200}
    except PhraseComError as error:
        return make_search_error(error)


def _find_index(lines: SearchLines, default: str | None, caller: Caller) -> str:
    """Return the index that a search is for; raise UnknownIndex for one that the caller may not use."""
    header = require_object(_parse_line(lines.header or b"{}", "header"), "the header")
    reject_unknown_names(header, HEADER_PARAMETERS.union(_INDEX_NAMES), "the header")
    names = _list_indexes(header) or ([default] if default is not None else [])
    if len(names) != 1:
        raise BadParameter("a search is for one index", fix='name it in the header: {"index": "papers"}')
    check_index_access(caller, check_index_name(names[0]))
    return names[0]


def _list_indexes(header: Mapping[str, Any]) -> list[str]:
    values = [value for name in _INDEX_NAMES if header.get(name) is not None for value in wrap_in_list(header[name])]
    if not all(isinstance(value, str) for value in values):
        raise BadParameter("the index of a header must be text")
    return [name for value in values for name in str(value).split(",") if name]


def _parse_line(line: bytes, name: str) -> object:
    try:
        return loads(line)
    except (ValueError, RecursionError) as error:
        raise BadParameter(f"the {name} is not JSON: {error}") from None
