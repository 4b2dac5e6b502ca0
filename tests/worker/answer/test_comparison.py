"""The answer to a comparison of two documents: its fields, its lists and their entries."""

from __future__ import annotations

import json

import orjson
import pytest

from indexer.documents import Document
from tests.support.answer_shape import check_answer
from tests.support.comparisons import LISTS, compare_sides
from tests.support.corpora.planted_pairs import IMPLIED, ONLY_A, ONLY_B, SHARED
from worker.comparer import Comparer
from worker.methods.registry import METHODS

Documents = dict[str, Document]
PAIRS = [("a1", "b1"), ("a2", "b2"), ("d0000", "d0006"), ("d0001", "d0100"), ("d0002", "d0003")]


@pytest.mark.parametrize(("a", "b"), PAIRS)
def test_every_answer_has_the_documented_shape(comparer: Comparer, documents: Documents, a: str, b: str) -> None:
    check_answer(compare_sides(comparer, a, b), documents)
    complete = compare_sides(comparer, a, b, cap=0, candidates=True, graph=True)
    check_answer(complete, documents, optional_parts=("candidates", "graph"))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("preset", ["default", "paper"])
def test_every_method_answers_in_the_same_shape(
    embedded_comparer: Comparer, documents: Documents, method: str, preset: str
) -> None:
    answer = compare_sides(embedded_comparer, "a1", "b1", method=method, preset=preset, cap=0, candidates=True)
    check_answer(answer, documents, optional_parts=("candidates",))
    assert (answer.method, answer.preset) == (method, preset)


def test_planted_phrases_are_found_where_they_were_planted(comparer: Comparer) -> None:
    answer = compare_sides(comparer, "a1", "b1", cap=0)
    common = {entry.phrase: entry.kind for entry in answer.common}
    assert common[SHARED] == "shared"
    assert common[IMPLIED] == "implied"
    assert ONLY_A in {entry.phrase for entry in answer.distinct_a}
    assert ONLY_B in {entry.phrase for entry in answer.distinct_b}


def test_counts_are_those_of_the_text(comparer: Comparer, documents: Documents) -> None:
    entry = next(entry for entry in compare_sides(comparer, "a1", "b1").common if entry.phrase == SHARED)
    for side, count in (("a1", entry.count_a), ("b1", entry.count_b)):
        text = f"{documents[side].title}. {documents[side].text}".lower()
        assert count == text.count(SHARED)


def test_relevance_is_in_units_of_an_average_salient_phrase(comparer: Comparer) -> None:
    """The average is over all salient phrases of a side; the lists have one of each group of near-duplicates."""
    answer = compare_sides(comparer, "d0000", "d0006", cap=0, candidates=True)
    assert answer.candidates
    entries = {entry.phrase: entry for name in LISTS for entry in getattr(answer, name)}
    for side in ("a", "b"):
        salient = [c.phrase for c in answer.candidates[side]]
        shown = [getattr(entries[p], f"relevance_{side}") for p in salient if p in entries]
        assert min(shown) > 0
        assert 0.2 < sum(shown) / len(shown) < 5


def test_phrases_are_displayed_as_documents_write_them(comparer: Comparer) -> None:
    displays = {
        e.phrase: e.display for name in LISTS for e in getattr(compare_sides(comparer, "d0004", "d0010", cap=0), name)
    }
    assert displays.get("anneal oven", "annealing oven") == "annealing oven"
    assert displays


@pytest.mark.parametrize(("a", "b"), PAIRS)
def test_a_shorter_list_is_the_beginning_of_a_longer_one(comparer: Comparer, a: str, b: str) -> None:
    longer = compare_sides(comparer, a, b, cap=0).to_dict()
    for cap in (8, 3, 1):
        shorter = compare_sides(comparer, a, b, cap=cap).to_dict()
        for name in LISTS:
            min_length = 0 if name == "common" else 1  # texts that have nothing to do with each other share nothing
            assert min(len(longer[name]), min_length) <= len(shorter[name]) <= cap
            for one, same in zip(shorter[name], longer[name], strict=False):
                assert set(one.pop("also", ())) <= set(same.pop("also", ())), "a list without a cap merges all phrases"
                assert one == same
        longer = compare_sides(comparer, a, b, cap=cap).to_dict()


def test_near_duplicates_are_merged_into_one_entry(comparer: Comparer) -> None:
    answer = compare_sides(comparer, "a1", "b1", cap=0)
    entry = next(entry for entry in answer.common if entry.phrase == SHARED)
    assert set(SHARED.split()) <= set(entry.also)
    assert not {phrase for e in answer.common for phrase in e.also} & {e.phrase for e in answer.common}


def test_a_phrase_is_displayed_as_the_compound_it_is_part_of(comparer: Comparer) -> None:
    text = "text:The waggle dance arena is small. By a waggle dance arena stands a honey bee, not the honey bee of old."
    (entry,) = (e for e in compare_sides(comparer, text, "d0001", cap=0).distinct_a if SHARED in (e.phrase, *e.also))
    assert entry.display == "waggle dance arena" in (entry.phrase, *entry.also)
    (entry,) = (e for e in compare_sides(comparer, text, "a1", cap=0).common if e.phrase == SHARED)
    assert (entry.display, "waggle dance arena" in entry.also) == (SHARED, False), "the other text has no arena"


def test_a_compound_that_no_text_phrase_names_is_displayed_with_containment(comparer: Comparer) -> None:
    text = "text:The waggle dance arena is small. By a waggle dance arena stands a honey bee, not the honey bee of old."
    answer = compare_sides(comparer, text, "d0001", cap=0, method="containment")
    (entry,) = (e for e in answer.distinct_a if e.phrase == SHARED)
    assert (entry.display, entry.also[0]) == ("waggle dance arena", "waggle dance arena")


def test_the_sign_of_a_margin_says_whether_a_candidate_is_common_or_distinct(comparer: Comparer) -> None:
    answer = compare_sides(comparer, "a1", "b1", cap=0, candidates=True)
    assert answer.candidates
    common = {phrase for entry in answer.common for phrase in (entry.phrase, *entry.also)}
    for letter, entries in (("a", answer.distinct_a), ("b", answer.distinct_b)):
        distinct = {phrase for entry in entries for phrase in (entry.phrase, *entry.also)}
        for candidate in answer.candidates[letter]:
            assert (candidate.margin >= 0) == (candidate.phrase in common)
            assert (candidate.phrase in common) != (candidate.phrase in distinct)
            assert 0 < candidate.salience <= 1


def test_k_limits_the_candidates_of_each_side_to_the_most_salient(comparer: Comparer) -> None:
    all_candidates = compare_sides(comparer, "a1", "b1", candidates=True).candidates
    limited = compare_sides(comparer, "a1", "b1", candidates=True, k=3).candidates
    assert all_candidates and limited
    for side in ("a", "b"):
        assert [c.phrase for c in limited[side]] == [c.phrase for c in all_candidates[side]][:3]


def test_the_graph_names_its_nodes_once_and_joins_only_those(comparer: Comparer, documents: Documents) -> None:
    answer = compare_sides(comparer, "a1", "b1", graph=True, cap=0)
    assert answer.graph
    nodes = {node["key"]: node for node in answer.graph["nodes"]}
    assert len(nodes) == len(answer.graph["nodes"])
    sides = {node["id"]: node["side"] for node in nodes.values() if node["kind"] == "document"}
    assert (sides["a1"], sides["b1"]) == ("a", "b")
    assert set(sides) <= set(documents)
    assert len(sides) <= 40 + 2
    lists = {node["phrase"]: node["list"] for node in nodes.values() if node["kind"] == "phrase"}
    assert (lists[SHARED], lists[ONLY_A], lists[ONLY_B]) == ("common", "distinct_a", "distinct_b")
    for edge in answer.graph["edges"]:
        assert list(edge) == ["phrase", "document", "weight"]
        assert nodes[edge["phrase"]]["kind"] == "phrase"
        assert nodes[edge["document"]]["kind"] == "document"
        assert edge["weight"] > 0


def test_the_stats_describe_the_graph_that_was_solved(comparer: Comparer) -> None:
    answer = compare_sides(comparer, "a1", "b1", candidates=True, neighbours=10)
    assert answer.candidates
    phrases = {c.phrase for side in answer.candidates.values() for c in side}
    assert answer.stats.phrases == len(phrases)
    assert answer.stats.documents == 12
    assert answer.stats.reached > 12
    assert 0 < answer.stats.left_out < 1
    wider = compare_sides(comparer, "a1", "b1", neighbours=1000)
    assert wider.stats.documents == wider.stats.reached
    assert wider.stats.edges > answer.stats.edges
    assert wider.stats.left_out < answer.stats.left_out


def test_an_answer_without_neighbours_has_a_note_that_says_so(embedded_comparer: Comparer) -> None:
    answer = compare_sides(embedded_comparer, "text:waggle dance", "text:waggle dance and oak bark")
    links = [note for note in answer.stats.notes if note.startswith("no other document in the index links the two")]
    assert bool(links) == (answer.stats.documents == 2)


def test_the_paper_preset_notes_that_its_lambda_is_above_its_bound(comparer: Comparer) -> None:
    answer = compare_sides(comparer, "a1", "b1", preset="paper")
    assert any("bound" in note for note in answer.stats.notes)
    assert answer.stats.iterations > 0


def test_the_summary_is_a_sentence_about_the_first_phrases(comparer: Comparer) -> None:
    answer = compare_sides(comparer, "a1", "b1")
    assert answer.summary.startswith(f"Both are about “{SHARED}”")
    assert "only A is about" in answer.summary and "only B is about" in answer.summary


def test_an_answer_is_plain_json(comparer: Comparer) -> None:
    answer = compare_sides(comparer, "a1", "b1", candidates=True, graph=True).to_dict()
    assert orjson.loads(orjson.dumps(answer)) == json.loads(json.dumps(answer, allow_nan=False)) == answer
