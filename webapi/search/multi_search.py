"""Several searches in one request, each with a response or an error of its own.

Searches of attached sources go to Elasticsearch as one request, and one job finds the reasons of all hits.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from indexer.engines.attached_source import MSEARCH_HEADER_PARAMETERS
from indexer.errors import BadParameter, PhraseComError, TooLarge
from indexer.identifiers import check_index_name
from webapi.auth.gate import check_index_access
from webapi.context import WebContext
from webapi.http.problems import make_search_error
from webapi.search.body import reject_unknown_names, require_object, wrap_in_list
from webapi.search.hit_reasons import HitPage, explain_pages
from webapi.search.index_search import build_index_response, plan_index_search, run_index_search
from webapi.search.passthrough_body import parse_source_body
from webapi.search.source_search import (
    PlannedSourceSearch,
    SourceHit,
    SourcePlanner,
    build_source_response,
    find_hits_of_pages,
    list_explained_hits,
    merge_reasons,
    send_source_searches,
)
from worker.access import Caller

_INDEX_NAMES = ("index", "indices")


@dataclass(frozen=True, slots=True)
class SearchLines:
    """One search of the request: a header line, which may be empty, and a body line."""

    header: bytes
    body: bytes


@dataclass(frozen=True, slots=True)
class _RunSearch:
    """A search that has run, whose hits have no reasons yet."""

    page: HitPage | None
    """The hits to explain; None if there are none, or no reasons are wanted."""
    build_response: Callable[[Sequence[dict[str, Any]]], dict[str, Any]]
    """Builds the response; takes the reasons of each hit of the page."""


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


@dataclass(frozen=True, slots=True)
class MultiSearch:
    """What the searches of a request have in common."""

    index: str | None
    """For headers that name none."""
    parameters: Mapping[str, str]
    """Of the URL; those of a header have precedence."""
    caller: Caller
    context: WebContext
    wait_seconds: float
    """For the reasons of all searches."""

    def run(self, searches: Sequence[SearchLines]) -> list[dict[str, Any]]:
        """Return the response to each search, with its ``status``, or its error."""
        planners: dict[str, SourcePlanner] = {}
        started = [self._start_search(lines, planners, is_first=not n) for n, lines in enumerate(searches)]
        sources = iter(self._search_sources([one for one in started if isinstance(one, PlannedSourceSearch)]))
        outcomes = [next(sources) if isinstance(one, PlannedSourceSearch) else one for one in started]
        pages = [one.page for one in outcomes if isinstance(one, _RunSearch) and one.page is not None]
        reasons = iter(explain_pages(self.context.gateway, pages, self.caller, self.wait_seconds) if pages else ())
        return [
            make_search_error(one)
            if isinstance(one, PhraseComError)
            else _build_response(one, next(reasons) if one.page is not None else ())
            for one in outcomes
        ]

    def _start_search(
        self, lines: SearchLines, planners: dict[str, SourcePlanner], *, is_first: bool
    ) -> _RunSearch | PlannedSourceSearch | PhraseComError:
        """Plan a search of a source, or run any other; return what is wrong with it as an error.

        ``planners``: those of the request by index, which is added to.
        """
        context, caller = self.context, self.caller
        try:
            if not is_first:
                context.gate.count_search(caller)
            index, parameters = self._read_header(lines.header)
            body = _parse_line(lines.body, "body")
            source = context.catalog.find_attached_source(index)
            if source is not None:
                planner = planners.setdefault(index, SourcePlanner(index, source, caller, context))
                return planner.plan(body, parameters)
            return self._search_index(index, body, parameters)
        except PhraseComError as error:
            return error

    def _search_index(self, index: str, body: object, parameters: Mapping[str, str]) -> _RunSearch:
        context, caller = self.context, self.caller
        started = time.perf_counter()
        plan = plan_index_search(index, body, parameters, caller, context)
        result = run_index_search(index, plan, caller, context)
        took = int(1000 * (time.perf_counter() - started))
        page = None
        if plan.with_why and result.hits:
            page = HitPage(index, plan.explained_text, result.hits, plan.explained_vector)

        def build_response(reasons: Sequence[dict[str, Any]]) -> dict[str, Any]:
            return build_index_response(index, plan, result, reasons, caller, context) | {"took": took}

        return _RunSearch(page, build_response)

    def _search_sources(self, searches: Sequence[PlannedSourceSearch]) -> list[_RunSearch | PhraseComError]:
        responses = send_source_searches(searches)
        found = [
            (one, response) for one, response in zip(searches, responses, strict=True) if isinstance(response, dict)
        ]
        hits = iter(find_hits_of_pages(found, self.caller, self.context))
        return [
            self._list_found_hits(planned, response, next(hits)) if isinstance(response, dict) else response
            for planned, response in zip(searches, responses, strict=True)
        ]

    def _list_found_hits(
        self, planned: PlannedSourceSearch, response: dict[str, Any], hits: list[SourceHit] | PhraseComError
    ) -> _RunSearch | PhraseComError:
        if isinstance(hits, PhraseComError):
            return hits
        explained = list_explained_hits(planned, hits)
        page = HitPage(planned.index, planned.text, explained, planned.vector) if explained else None

        def build_response(reasons: Sequence[dict[str, Any]]) -> dict[str, Any]:
            whys = merge_reasons(planned, hits, reasons, self.caller, self.context)
            return build_source_response(planned, response, hits, whys)

        return _RunSearch(page, build_response)

    def _read_header(self, line: bytes) -> tuple[str, Mapping[str, str]]:
        """Return the index and the parameters of a search; raise UnknownIndex for one that the caller may not use."""
        header = require_object(_parse_line(line or b"{}", "header"), "the header")
        reject_unknown_names(header, MSEARCH_HEADER_PARAMETERS.union(_INDEX_NAMES), "the header")
        names = _list_indexes(header) or ([self.index] if self.index is not None else [])
        if len(names) != 1:
            raise BadParameter("a search is for one index", fix='name it in the header: {"index": "papers"}')
        check_index_access(self.caller, check_index_name(names[0]))
        own = {
            name: _format_parameter(value)
            for name, value in header.items()
            if name in MSEARCH_HEADER_PARAMETERS and value is not None
        }
        return names[0], {**self.parameters, **own}


def _build_response(search: _RunSearch, reasons: Sequence[dict[str, Any]]) -> dict[str, Any]:
    try:
        return search.build_response(reasons) | {"status": 200}
    except PhraseComError as error:
        return make_search_error(error)


def _list_indexes(header: Mapping[str, Any]) -> list[str]:
    values = [value for name in _INDEX_NAMES if header.get(name) is not None for value in wrap_in_list(header[name])]
    if not all(isinstance(value, str) for value in values):
        raise BadParameter("the index of a header must be text")
    return [name for value in values for name in str(value).split(",") if name]


def _format_parameter(value: object) -> str:
    """Return a value of a header as it is written in a URL."""
    if isinstance(value, Mapping):
        raise BadParameter("a parameter of a header must be a text, a number, a flag or a list of these")
    return ",".join(str(one).lower() if isinstance(one, bool) else str(one) for one in wrap_in_list(value))


def _parse_line(line: bytes, name: str) -> object:
    try:
        return parse_source_body(line)
    except (ValueError, RecursionError) as error:
        raise BadParameter(f"the {name} is not JSON: {error}") from None
