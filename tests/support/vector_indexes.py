"""Indexes that have vectors, as far as the web layer and the job store look at them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from indexer.engines.attachment import ATTACHMENT_SETTING
from indexer.indexing.build import EpochPlan
from indexer.model.phrase_model import PhraseModel
from indexer.vectors import VECTOR_SETTING
from worker.comparer import Comparer
from worker.explain.spec import ComparisonSpec


@contextmanager
def declare_vectors(dimensions: int, source_field: str | None = None) -> Iterator[None]:
    """Let the settings of indexes that are built meanwhile name vectors of this length, and their field in the
    source."""
    make_settings = EpochPlan.make_settings

    def make_settings_with_vectors(plan: EpochPlan, model: PhraseModel) -> dict[str, object]:
        settings = make_settings(plan, model) | {VECTOR_SETTING: dimensions}
        if source_field is not None:
            source = settings[ATTACHMENT_SETTING]
            assert isinstance(source, dict)
            settings[ATTACHMENT_SETTING] = source | {"fields": source["fields"] | {"vector": source_field}}
        return settings

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(EpochPlan, "make_settings", make_settings_with_vectors)
        yield


@contextmanager
def record_specs() -> Iterator[list[ComparisonSpec]]:
    """Give a list of the specs that comparers of this process are asked for meanwhile, those of a page one by one."""
    specs: list[ComparisonSpec] = []
    compare, explain_query_page = Comparer.compare_variants, Comparer.explain_query_page

    def record_and_compare(comparer: Comparer, asked: list[ComparisonSpec], *more: object) -> object:
        specs.extend(asked)
        return compare(comparer, asked, *more)  # type: ignore[arg-type]

    def record_and_explain(comparer: Comparer, asked: list[ComparisonSpec]) -> object:
        specs.extend(asked)
        return explain_query_page(comparer, asked)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Comparer, "compare_variants", record_and_compare)
        patch.setattr(Comparer, "explain_query_page", record_and_explain)
        yield specs
