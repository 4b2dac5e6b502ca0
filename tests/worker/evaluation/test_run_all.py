"""Rows of an evaluation, planned from the options of the command, and the corpora to query that are there."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from indexer.cli.main import run
from indexer.engines import open_engine
from indexer.errors import BadParameter
from indexer.model.evidence_spaces import SpaceName
from indexer.progress import no_progress
from tests.support.corpora.small_corpus import generate_documents, write_jsonl
from tests.support.word_encoder import FieldEncoder
from worker.comparer import Comparer
from worker.evaluation.datasets import QUERY_DATASETS, QueryDataset, is_in_sample
from worker.evaluation.judged_hits import choose_half
from worker.evaluation.method_commands import plan_runs
from worker.evaluation.query_commands import parse_space_names
from worker.evaluation.run_all import evaluate_query_datasets


def test_a_parameter_is_varied_in_every_row_of_cda() -> None:
    names = [planned.name for planned in plan_runs(("cda",), (), [("lambda", [0, 0.1])])]
    varied = [f"cda/{preset} lambda={value}" for preset in ("default", "paper") for value in (0, 0.1)]
    assert names == ["cda/default", "cda/paper", *varied, "containment"]


def test_varying_a_parameter_of_no_measured_method_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(BadParameter, match="--vary"):
        plan_runs(("containment", "word_match"), (), [("lambda", [0])])
    arguments = [
        "masked",
        "--index",
        "papers",
        "--engine",
        str(tmp_path),
        "--method",
        "containment",
        "--vary",
        "lambda=0",
    ]
    assert run(["evaluate", *arguments]) == 2
    (message,) = capsys.readouterr().err.splitlines()
    assert "--method cda" in message


def test_queries_are_evaluated_on_the_corpora_whose_files_are_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(QUERY_DATASETS, "news", QueryDataset("news", "news.jsonl", one_in=3))
    monkeypatch.delitem(QUERY_DATASETS, "python")  # it needs no file
    write_jsonl(tmp_path / "news.jsonl", generate_documents(90))
    hit = next(document.id for document in generate_documents(90) if is_in_sample(document.id, 3))
    queries = ["honey bee", "sail boat", "rye flour", "oven stone", "rope knot"]
    rows = [{"query": query, "hit": hit, "relevance": 1, "reasons": []} for query in queries]
    (tmp_path / "judged.jsonl").write_bytes(b"\n".join(map(orjson.dumps, rows)))
    monkeypatch.setattr(QueryDataset, "find_judged_file", lambda dataset: tmp_path / "judged.jsonl")
    with open_engine(str(tmp_path / "engine")) as engine:
        for part, half in (("tune", "choose"), ("report", "report")):
            evaluations = dict(evaluate_query_datasets(Comparer(engine), tmp_path, part, 1, no_progress))
            assert list(evaluations) == ["news"]
            expected = [query for query in queries if choose_half(query) == half]
            assert evaluations["news"]["judged"]["queries"] == len(expected) > 0


def test_with_an_encoder_queries_are_evaluated_without_and_with_vectors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PHRASECOM_CACHE", str(tmp_path / "cache"))
    monkeypatch.setitem(QUERY_DATASETS, "news", QueryDataset("news", "news.jsonl"))
    monkeypatch.delitem(QUERY_DATASETS, "python")  # it needs no file
    monkeypatch.setattr(QueryDataset, "find_judged_file", lambda dataset: None)
    write_jsonl(tmp_path / "news.jsonl", generate_documents(30))
    with open_engine(str(tmp_path / "engine")) as engine:
        evaluations = dict(
            evaluate_query_datasets(Comparer(engine), tmp_path, "report", 1, no_progress, FieldEncoder(["honey"]))
        )
    assert list(evaluations) == ["news", "news with vectors"]
    assert "meaning" not in evaluations["news"]
    assert {"meaning", "faithful"} <= evaluations["news with vectors"].keys()


@pytest.mark.parametrize(
    ("text", "selections"),
    [
        ("all", [("vectors", "topics")]),
        ("none", [()]),
        ("topics, vectors", [("vectors", "topics")]),
        ("each", [("vectors", "topics"), ("vectors",), ("topics",), ()]),
    ],
)
def test_spaces_are_selected_by_name_or_all_combinations(text: str, selections: list[tuple[SpaceName, ...]]) -> None:
    assert parse_space_names(text, ("vectors", "topics")) == selections


def test_a_space_that_the_index_lacks_is_refused() -> None:
    with pytest.raises(BadParameter, match="no space named 'words'") as caught:
        parse_space_names("topics,words", ("vectors", "topics"))
    assert "vectors, topics" in str(caught.value.fix)
