"""Documents with keywords in three parts, and samples of corpora to query."""

from __future__ import annotations

import gzip
from collections import Counter
from pathlib import Path

import orjson
import pytest

from indexer.engines import open_engine
from indexer.errors import BadInput
from indexer.text.lemmatizer import Lemmatizer
from tests.support.corpora.small_corpus import generate_documents
from worker.evaluation.datasets import (
    ALL_PARTS,
    PARTS,
    QUERY_DATASETS,
    choose_dataset_part,
    ensure_query_index,
    is_in_sample,
    load_gold,
)

LEMMATIZER = Lemmatizer("en")


def test_every_document_is_in_one_part_and_parts_are_thirds(tmp_path: Path) -> None:
    path = tmp_path / "gold.jsonl"
    rows = [{"id": f"paper {n}", "title": "", "text": "of webs", "keyphrases": ["web"]} for n in range(900)]
    path.write_bytes(b"\n".join(map(orjson.dumps, rows)))
    parts = {part: [gold.document.id for gold in load_gold([path], part, LEMMATIZER)] for part in PARTS}
    assert sorted(id for ids in parts.values() for id in ids) == sorted(str(row["id"]) for row in rows)
    assert all(choose_dataset_part(id) == part for part, ids in parts.items() for id in ids)
    assert all(
        250 < count < 350 for count in Counter(map(choose_dataset_part, (str(row["id"]) for row in rows))).values()
    )
    assert len(load_gold([path], ALL_PARTS, LEMMATIZER)) == len(rows)


def test_a_corpus_to_query_is_a_sample_by_id_and_is_indexed_once(tmp_path: Path) -> None:
    documents = list(generate_documents(90))
    rows = [{"id": document.id, "title": document.title, "text": document.text} for document in documents]
    with gzip.open(tmp_path / "news.jsonl.gz", "wb") as file:
        file.write(b"\n".join(map(orjson.dumps, rows)))
    with open_engine(str(tmp_path / "engine")) as engine:
        name = ensure_query_index(engine, QUERY_DATASETS["news"], tmp_path)
        reader = engine.open_reader(name)
        expected = sorted(document.id for document in documents if is_in_sample(document.id, 3))
        assert 15 < len(expected) < 45
        assert [analysed.document.id for analysed in reader.scan()] == expected
        assert ensure_query_index(engine, QUERY_DATASETS["news"], tmp_path) == name
        assert engine.open_reader(name).info.epoch == reader.info.epoch


def test_a_corpus_to_query_without_its_file_is_refused(tmp_path: Path) -> None:
    with open_engine(str(tmp_path / "engine")) as engine:
        for data in (tmp_path, None):
            with pytest.raises(BadInput, match=r"no abstracts_ml\.jsonl\.gz") as caught:
                ensure_query_index(engine, QUERY_DATASETS["ml"], data)
            assert "--data" in str(caught.value.fix)
