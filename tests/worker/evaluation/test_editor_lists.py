"""Lists of comparisons measured against an editor's, and by verdicts of readers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest

from indexer.cli.main import run
from indexer.engines import open_engine
from indexer.errors import BadInput, BadParameter
from indexer.progress import no_progress
from tests.support.comparisons import INDEX
from tests.support.corpora.small_corpus import generate_documents, write_jsonl
from tests.support.paths import ROOT
from worker.answer.comparison import EntryKind
from worker.comparer import Comparer
from worker.evaluation.author_keywords import MethodRun
from worker.evaluation.editor_lists.editor_pairs import LIST_NAMES, load_editor_data, read_editor_pairs, read_verdicts
from worker.evaluation.editor_lists.list_figures import ListOutcome, ShownPhrase, summarise_lists
from worker.evaluation.editor_lists.list_tables import list_editor_tables
from worker.evaluation.editor_lists.phrase_matching import (
    EXACT,
    NEAR,
    PhraseReader,
    compare_readings,
    count_matches,
)
from worker.evaluation.report import render_table
from worker.evaluation.run_all import evaluate_editor_or_skip

RUNS = [MethodRun("cda", "default"), MethodRun("containment", "default")]


@pytest.fixture(scope="module")
def phrases(embedded_comparer: Comparer) -> PhraseReader:
    return PhraseReader(embedded_comparer.engine.open_reader(INDEX).model)


def show(
    phrases: PhraseReader,
    display: str,
    kept: float | None = None,
    kind: EntryKind = "shared",
    score: float = 0.95,
    also: tuple[str, ...] = (),
) -> ShownPhrase:
    return ShownPhrase(display, also, score, kind, tuple(map(phrases.read, (display, *also))), kept)


def compare_with_editor(phrases: PhraseReader, editor: tuple[str, ...], *shown: ShownPhrase) -> ListOutcome:
    return ListOutcome(shown, tuple((text, phrases.read(text)) for text in editor))


@pytest.mark.parametrize(
    ("displayed", "also", "editor", "is_exact", "is_near"),
    [
        ("Honey bees", (), "honey bee", True, True),
        ("stop-motion", (), "stop motion", True, True),
        ("the honey bees", (), "honey bee", False, True),  # function words do not count
        ("bee honey", (), "honey bee", False, True),
        ("honey", (), "honey cake", False, True),
        ("honey", (), "brown honey cake", False, False),
        ("brown sugar", (), "brown bread", False, False),  # one word of three
        ("honey bee colony", (), "nectar", False, False),
        ("Veggie Rice", ("rice",), "rice", True, True),  # merged into the entry
        ("queen cell", ("rye",), "rye bread", False, False),  # what is merged is not seen: only exactly
    ],
)
def test_a_phrase_is_found_exactly_or_nearly(
    phrases: PhraseReader, displayed: str, also: tuple[str, ...], editor: str, is_exact: bool, is_near: bool
) -> None:
    similarity = compare_readings(show(phrases, displayed, also=also).readings, phrases.read(editor))
    assert (similarity >= EXACT, similarity >= NEAR) == (is_exact, is_near)


def test_a_phrase_of_function_words_has_words_too(phrases: PhraseReader) -> None:
    assert phrases.read("out of the").content == {"out", "of", "the"}


def test_each_phrase_is_matched_once(phrases: PhraseReader) -> None:
    def count(shown: list[str], editor: list[str]) -> int:
        return count_matches([[phrases.read(text)] for text in shown], [phrases.read(text) for text in editor])

    assert count(["honey", "honey bee"], ["honey bee"]) == 1
    assert count(["honey bee"], ["honey cake", "honey bee"]) == 1
    assert count(["honey bee", "honey"], ["honey cake", "honey bee"]) == 2  # the exact one is taken first
    assert count(["rye flour"], []) == count([], ["rye flour"]) == 0


def test_found_and_f1_count_phrases_of_all_pairs(phrases: PhraseReader) -> None:
    first = compare_with_editor(
        phrases,
        ("honey bee", "waggle dance", "brood nest"),
        *(show(phrases, text) for text in ("honey bees", "dance", "oven stone", "brood nest")),
    )
    second = compare_with_editor(phrases, ("rye flour",))
    without_editor = compare_with_editor(phrases, (), show(phrases, "honey"))
    summary = summarise_lists([[first, second], [without_editor]], seed=1)
    assert summary["counts"] | {"editor": 4, "shown": 5, "lists": 3, "cut": 3, "matched": 2} == summary["counts"]
    assert (
        summary["figures"]
        | {
            "found_exactly": 0.5,
            "found_nearly": 0.75,
            "shown": pytest.approx(5 / 3),
            "precision": pytest.approx(2 / 3),  # the fourth phrase is beyond the length of the editor's list
            "recall": 0.5,
            "f1": pytest.approx(4 / 7),
        }
        == summary["figures"]
    )


def test_a_list_that_shows_nothing_has_an_f1_of_0(phrases: PhraseReader) -> None:
    figures = summarise_lists([[compare_with_editor(phrases, ("rye flour",))]], seed=1)["figures"]
    assert (figures["precision"], figures["recall"], figures["f1"]) == (None, 0, 0)
    nothing = summarise_lists([[compare_with_editor(phrases, ())]], seed=1)["figures"]
    assert (nothing["found_nearly"], nothing["f1"], nothing["both"]) == (None, None, None)


def test_kept_counts_the_shown_phrases_that_readers_read(phrases: PhraseReader) -> None:
    outcome = compare_with_editor(
        phrases,
        ("honey bee", "rye flour"),
        show(phrases, "honey bee", kept=1.0, score=1.0),
        show(phrases, "honey", kept=0.5, score=0.91),
        show(phrases, "oven stone", kept=0.0, kind="implied", score=0.45),
        show(phrases, "brood nest", kept=0.5, kind="meaning", score=0.42),
        show(phrases, "nectar"),
    )
    summary = summarise_lists([[outcome]], seed=1)
    assert (
        summary["figures"]
        | {
            "judged": 0.8,
            "kept": 0.5,
            "shown_words": 2,
            "shown_phrases": 1,
            "shown_implied": 2,
            "kept_words": 0.5,
            "kept_phrases": 1,
            "kept_implied": 0.25,
            "found_nearly": 0.5,
            "both": 0.5,
        }
        == summary["figures"]
    )
    assert summary["by_score"] == [
        {"from": 0.4, "to": 0.5, "phrases": 2, "kept": 0.25},
        {"from": 0.9, "to": 1.0, "phrases": 2, "kept": 0.75},
    ]


def test_without_verdicts_nothing_is_said_of_what_is_kept(phrases: PhraseReader) -> None:
    summary = summarise_lists([[compare_with_editor(phrases, ("honey",), show(phrases, "honey"))]], seed=1)
    assert (summary["figures"]["judged"], summary["figures"]["kept"], summary["figures"]["both"]) == (0, None, None)
    assert "kept" not in summary["intervals"]
    assert summary["by_score"] == []


def test_intervals_are_resampled_by_pair_and_always_the_same(phrases: PhraseReader) -> None:
    found = compare_with_editor(phrases, ("honey bee",), show(phrases, "honey bee"))
    lost = compare_with_editor(phrases, ("rye flour",), show(phrases, "honey bee"))
    outcomes = [[found], [lost]] * 10
    intervals = summarise_lists(outcomes, seed=1)["intervals"]
    assert intervals == summarise_lists(outcomes, seed=1)["intervals"]
    low, high = intervals["f1"]
    assert 0.2 < low < 0.5 < high < 0.8
    assert summarise_lists([[found]] * 20, seed=1)["intervals"]["f1"] == (1, 1)


# --- the command


def write_lines(path: Path, *rows: dict[str, Any]) -> Path:
    path.write_bytes(b"\n".join(map(orjson.dumps, rows)))
    return path


def make_row(
    pair: str, a: str, b: str, kind: str = "hobbies", half: str = "report", **lists: list[str]
) -> dict[str, Any]:
    return {
        "kind": kind,
        "pair": pair,
        "a": a,
        "b": b,
        "half": half,
        **{name: lists.get(name, []) for name in LIST_NAMES},
    }


BEES_AND_BOATS = make_row(
    "hobbies-1", "bees-000", "boats-001",
    distinct_a=["Flower fields", "queen bees"], distinct_b=["sail boat", "brown sugar"],
)  # fmt: skip
TWO_OF_BEES = make_row("hobbies-2", "bees-003", "bees-006", half="choose", common=["honey bee", "waggle dance"])


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    """The options that name a tiny corpus, lists and verdicts."""
    (tmp_path / "corpora").mkdir()
    write_jsonl(tmp_path / "corpora" / "hobbies.jsonl", generate_documents(60))
    lists = write_lines(tmp_path / "editor.jsonl", BEES_AND_BOATS, TWO_OF_BEES)
    verdicts = write_lines(
        tmp_path / "verdicts.jsonl",
        {"pair": "hobbies-1", "list": "distinct_a", "phrase": "FLOWER FIELD", "verdicts": ["keep", "strike"]},
    )
    options = {"--lists": lists, "--verdicts": verdicts, "--corpora": tmp_path / "corpora", "--engine": tmp_path / "e"}
    return ["evaluate", "editor", *(str(part) for option in options.items() for part in option)]


def measure(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    assert run([*arguments, "--method", "cda", "--preset", "default", "--json"]) == 0
    evaluation = orjson.loads(capsys.readouterr().out)
    assert isinstance(evaluation, dict)
    return evaluation


def test_the_command_compares_the_pairs_of_one_half(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    evaluation = measure(capsys, *files, "--told")
    assert (evaluation["half"], evaluation["cap"], evaluation["kinds"]["hobbies"]["pairs"]) == ("report", 8, 1)
    assert [row["name"] for row in evaluation["pooled"]["rows"]] == ["cda/default", "containment"]
    ours = evaluation["pooled"]["rows"][0]
    assert ours["distinct"]["counts"]["editor"] == 4
    assert ours["distinct"]["figures"]["found_exactly"] == 0.75
    assert ours["common"]["figures"]["found_exactly"] is None
    (told,) = evaluation["told"]["cda/default"]
    assert [(phrase["phrase"], phrase["found"]) for phrase in told["distinct_b"]["editor"]] == [
        ("sail boat", "exactly"),
        ("brown sugar", None),
    ]
    shown = {phrase["display"]: phrase for phrase in told["distinct_a"]["shown"]}
    assert shown["flower field"] | {"kind": "distinct", "kept": 0.5} == shown["flower field"]
    assert all("kept" not in phrase for display, phrase in shown.items() if display != "flower field")
    assert ours["distinct"]["counts"]["judged"] == 1


def test_the_command_takes_another_corpus_half_and_cap(
    files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_jsonl(tmp_path / "larger.jsonl", generate_documents(90))
    arguments = ["--corpus", f"hobbies={tmp_path / 'larger.jsonl'}", "--half", "all", "--cap", "1", "--kind", "hobbies"]
    evaluation = measure(capsys, *files, *arguments)
    assert evaluation["pooled"]["pairs"] == 2
    row = evaluation["pooled"]["rows"][0]
    assert row["common"]["counts"]["shown"] <= 2
    with open_engine(str(tmp_path / "e")) as engine:
        index = evaluation["kinds"]["hobbies"]["index"]
        assert engine.open_reader(index).info.documents == 90


def test_the_tables_have_every_kind_and_all_pooled(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    evaluation = measure(capsys, *files)
    for _, columns, rows in list_editor_tables(evaluation):
        lines = list(render_table(columns, rows))
        assert len({line.count("|") for line in lines}) == 1
    assert run([*files, "--method", "containment"]) == 0
    out = capsys.readouterr().out
    for title in ("common: found", "distinct: shown and kept", "distinct: kept by score"):
        assert title in out
    assert out.count("hobbies") == out.count("pooled") == 6


def test_texts_in_german_are_indexed_as_german(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "german.jsonl", generate_documents(30))
    lists = write_lines(tmp_path / "editor.jsonl", make_row("german-1", "bees-000", "boats-001", kind="german"))
    data = load_editor_data(lists=lists, corpora=tmp_path)
    from worker.evaluation.editor_lists.list_evaluation import evaluate_editor_lists

    with open_engine(str(tmp_path / "engine")) as engine:
        index = evaluate_editor_lists(Comparer(engine), data, RUNS)["kinds"]["german"]["index"]
        assert engine.open_reader(index).model.settings["language"] == "de"


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"pair": "hobbies-1"}, "every line must be an object with kind, pair, a, b, half, common"),
        ({**BEES_AND_BOATS, "half": "both"}, "half 'both' of hobbies-1"),
        ({**BEES_AND_BOATS, "common": "honey bee"}, "common of hobbies-1"),
        ({**BEES_AND_BOATS, "distinct_b": ["honey bee", " "]}, "distinct_b of hobbies-1"),
    ],
)
def test_a_line_that_is_no_pair_with_lists_is_refused(tmp_path: Path, row: dict[str, Any], message: str) -> None:
    with pytest.raises(BadInput, match=message) as caught:
        read_editor_pairs(write_lines(tmp_path / "editor.jsonl", row))
    assert caught.value.fix


@pytest.mark.parametrize(
    "change", [{"list": "shared"}, {"verdicts": "keep"}, {"verdicts": []}, {"verdicts": ["keep", "maybe"]}]
)
def test_a_line_that_is_no_verdict_is_refused(tmp_path: Path, change: dict[str, Any]) -> None:
    verdict = {"pair": "hobbies-1", "list": "common", "phrase": "honey bee", "verdicts": ["keep", "keep"]}
    assert (
        read_verdicts(write_lines(tmp_path / "verdicts.jsonl", verdict)).find("hobbies-1", "common", "Honey Bee") == 1
    )
    (name,) = change
    with pytest.raises(BadInput, match=name) as caught:
        read_verdicts(write_lines(tmp_path / "verdicts.jsonl", verdict | change))
    assert caught.value.fix


def test_a_missing_corpus_a_kind_and_a_document_that_are_not_there_are_refused_with_the_fix(
    files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lists = tmp_path / "editor.jsonl"
    with pytest.raises(BadParameter, match="no pair of the kind 'laws'; use some of hobbies"):
        load_editor_data(kinds=["laws"], lists=lists, corpora=tmp_path / "corpora")
    write_lines(lists, BEES_AND_BOATS, make_row("laws-1", "law-1", "law-2", kind="laws"))
    assert run(files) == 2
    (message,) = capsys.readouterr().err.splitlines()
    assert "laws.jsonl; make it with python -m tests.tools.make_editor_corpora" in message
    write_lines(lists, BEES_AND_BOATS, make_row("hobbies-9", "bees-000", "gone"))
    assert run(files) == 2
    message = capsys.readouterr().err.splitlines()[-1]
    assert "no document 'gone', which hobbies-9 compares; make it again" in message
    assert run([*files, "--corpus", "papers"]) == 2
    assert "KIND=FILE" in capsys.readouterr().err


def test_without_corpora_the_evaluation_of_everything_says_why_lists_are_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, embedded_comparer: Comparer
) -> None:
    monkeypatch.setenv("PHRASECOM_CACHE", str(tmp_path / "cache"))
    evaluation = evaluate_editor_or_skip(embedded_comparer, RUNS, "tune", 1, no_progress)
    assert set(evaluation) == {"skipped"}
    assert str(tmp_path / "cache" / "editor" / "papers.jsonl") in evaluation["skipped"]


def test_the_committed_lists_are_whole() -> None:
    pairs = read_editor_pairs(ROOT / "tests" / "quality" / "data" / "editor.jsonl")
    assert len({pair.pair for pair in pairs}) == len(pairs) == 130
    assert {half: sum(pair.half == half for pair in pairs) for half in ("choose", "report")} == {
        "choose": 63,
        "report": 67,
    }
    for pair in pairs:
        for texts in pair.lists.values():
            assert len({text.casefold() for text in texts}) == len(texts)
