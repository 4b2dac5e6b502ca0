"""One module of view functions for each resource of the HTTP API.

The ``endpoint`` of every route is fixed: metrics and the table of scopes use it.
"""

from __future__ import annotations

from webapi.routes import comparisons, docs, explanations, feedback, health, indexes, jobs, msearch, pages, search

ALL_BLUEPRINTS = (
    comparisons.blueprint,
    explanations.blueprint,
    feedback.blueprint,
    indexes.blueprint,
    jobs.blueprint,
    search.blueprint,
    msearch.blueprint,
    health.blueprint,
    docs.openapi_blueprint,
    docs.blueprint,
    pages.blueprint,
)
