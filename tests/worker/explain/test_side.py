"""Every kind of side: how it is written, and compared with every other kind."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from indexer.documents import Document
from indexer.engines import open_engine
from indexer.engines.base import Engine
from indexer.errors import BadSide, TooLarge, UnknownDocument
from indexer.vectors import VECTOR_SETTING, encode_vector
from tests.support.answer_shape import check_answer
from tests.support.comparisons import INDEX, compare_sides
from tests.support.corpora.planted_pairs import IMPLIED, PHRASES, SHARED, generate_field_documents, make_planted_corpus
from tests.support.index_copies import copy_index
from worker.answer.comparison import Comparison
from worker.comparer import Comparer
from worker.explain.side import Side, split_search_words_and_filters
from worker.explain.side_limits import SideLimits

Documents = dict[str, Document]

SIDES = {
    "document": "a1",
    "set": "ids:b1,d0000,d0006",
    "search by words": "search:honey nectar",
    "search by facet": "search:source:bread",
    "search by date": "search:date:2011-03-01..2011-03-12",
    "query": "query:waggle dance in the hive",
    "text": "text:The waggle dance tells of a nectar source. Some rye flour was near the oven stone.",
    "file": "file",
}
TEXT = "On the queen cell and the brood nest: a waggle dance before the hive entrance."


@pytest.mark.parametrize(("a", "b"), list(itertools.product(SIDES, SIDES)))
def test_every_kind_of_side_compares_with_every_other(
    embedded_comparer: Comparer, documents: Documents, write_side_file: Callable[[str], str], a: str, b: str
) -> None:
    sides = [write_side_file(TEXT) if SIDES[side] == "file" else SIDES[side] for side in (a, b)]
    check_answer(compare_sides(embedded_comparer, *sides), documents)


@pytest.mark.parametrize("b", SIDES)
def test_both_engines_take_every_kind_of_side(
    comparer: Comparer, documents: Documents, write_side_file: Callable[[str], str], b: str
) -> None:
    check_answer(compare_sides(comparer, "a1", write_side_file(TEXT) if SIDES[b] == "file" else SIDES[b]), documents)


@pytest.mark.parametrize(
    ("written", "form", "ids", "words"),
    [
        ("x1", "id", ("x1",), ""),
        ("id:x1", "id", ("x1",), ""),
        ("id:text:1", "id", ("text:1",), ""),
        ("arxiv:0704.0001", "id", ("arxiv:0704.0001",), ""),
        ("ids:x1, x2,,x1", "ids", ("x1", "x2"), ""),
        ("search:web source:BBC", "search", (), "web source:BBC"),
        ("query: web graph", "query", (), " web graph"),
        ("text:a: b", "text", (), "a: b"),
    ],
)
def test_a_side_is_read_as_it_is_written(written: str, form: str, ids: tuple[str, ...], words: str) -> None:
    assert Side.from_text(written) == Side(form, ids, words)


@pytest.mark.parametrize("side", [{"id": "x"}, {"ids": ["x", "y"]}, {"search": "web"}, {"query": "q"}, {"text": "t"}])
def test_a_side_survives_json(side: dict[str, object]) -> None:
    assert Side.from_json(side).to_json() == side


@pytest.mark.parametrize(
    "side",
    [
        {}, {"id": "x", "text": "y"}, {"uri": "x"}, {"id": 3}, {"id": ""}, {"id": "x" * 513}, {"id": "\ud800"},
        {"ids": []}, {"ids": "x"}, {"ids": [1]}, {"ids": [""]}, {"text": "  "}, {"query": ""}, {"search": "\n"},
        {"search": "date:yesterday"}, {"search": "date:2011-02-30"}, {"search": "date:2011-13"}, 5, None, ["x"],
    ],
)  # fmt: skip
def test_a_malformed_side_is_refused(side: object) -> None:
    with pytest.raises(BadSide):
        Side.from_json(side)


@pytest.mark.parametrize(
    "written", ["", "id:", "ids:", "ids: , ", "text:", "query:  ", "search:", "file:/no/such/file"]
)
def test_a_malformed_side_on_the_command_line_is_refused(written: str) -> None:
    with pytest.raises(BadSide):
        Side.from_text(written)


def test_a_folder_or_an_impossible_path_is_refused_as_a_file(tmp_path: Path) -> None:
    for path in (tmp_path, "a\0b"):
        with pytest.raises(BadSide, match="cannot read"):
            Side.from_text(f"file:{path}")


def test_a_search_has_words_facets_and_a_range_of_dates() -> None:
    words, selection = split_search_words_and_filters(
        'quake source:BBC source:CNN topic:"real estate" date:2011-03..2011-04-02 "old town"'
    )
    assert words == "quake old town"
    assert selection.facets == {"source": ["BBC", "CNN"], "topic": ["real estate"]}
    assert (selection.date_from, selection.date_to) == ("2011-03", "2011-04-02")
    assert split_search_words_and_filters("date:2011")[1].date_to == "2011"
    assert split_search_words_and_filters("date:..2011")[1].date_from is None


def test_a_search_stands_for_the_documents_it_selects(comparer: Comparer, documents: Documents) -> None:
    bread = sorted(id for id, d in documents.items() if "bread" in d.facets["source"])
    answer = compare_sides(comparer, "search:source:bread", "search:source:bees")
    assert sorted(answer.a.ids) == bread
    assert answer.a.title == "source:bread"
    for entries, field in ((answer.distinct_a, "bread"), (answer.distinct_b, "bees")):
        is_of_field = [entry.phrase in PHRASES[field] for entry in entries]
        assert all(is_of_field[:3]) and is_of_field == sorted(is_of_field, reverse=True), (
            "what one document says is last"
        )


def test_a_search_that_selects_nothing_or_too_much_is_refused(indexed_engine: Engine) -> None:
    with pytest.raises(BadSide, match="matches no document"):
        compare_sides(Comparer(indexed_engine), "search:source:nothing", "a1")
    with pytest.raises(TooLarge, match="matches 50"):
        compare_sides(Comparer(indexed_engine, limits=SideLimits(max_documents=20)), "search:source:bread", "a1")


def test_a_set_above_the_limit_is_too_large(embedded_comparer: Comparer) -> None:
    small = Comparer(embedded_comparer.engine, limits=SideLimits(max_documents=2))
    assert compare_sides(small, "ids:a1,a2", "b1").a.ids == ("a1", "a2")
    with pytest.raises(TooLarge, match="limit of 2"):
        compare_sides(small, "ids:a1,a2,b1", "b2")


def test_a_set_of_one_is_like_its_document(comparer: Comparer) -> None:
    one, document = compare_sides(comparer, "ids:a1", "b1", cap=0), compare_sides(comparer, "a1", "b1", cap=0)
    assert one.a.kind == "set"
    assert (one.common, one.distinct_a, one.distinct_b) == (document.common, document.distinct_a, document.distinct_b)


def test_an_unknown_document_is_named(comparer: Comparer) -> None:
    with pytest.raises(UnknownDocument, match="nobody"):
        compare_sides(comparer, "a1", "nobody")
    with pytest.raises(UnknownDocument, match=r"n1.*n2.*n3.*\.\.\."):
        compare_sides(comparer, "ids:a1,n1,n2,n3,n4", "b1")


def test_a_text_is_compared_as_if_it_were_in_the_index(comparer: Comparer, documents: Documents) -> None:
    document = documents["b1"]
    answer = compare_sides(comparer, "a1", Side.from_json({"text": f"{document.title}. {document.text}"}), cap=0)
    assert {IMPLIED, SHARED} <= {entry.phrase for entry in answer.common}
    assert answer.b.ids == ()
    snippets = [snippet for entry in answer.common for snippet in entry.evidence if snippet.side == "b"]
    text = f"{document.title}. {document.text}"
    assert snippets and all(
        text[snippet.start : snippet.end].lower() in (SHARED, *SHARED.split()) for snippet in snippets
    )


def test_ad_hoc_documents_leave_the_index_unchanged(comparer: Comparer) -> None:
    before = comparer.engine.open_reader(INDEX)
    degrees = before.model.degree.copy()
    documents = [document.document.id for document in before.scan()]
    compare_sides(comparer, "text:waggle dance and rye flour", "query:oven stone", graph=True)
    after = comparer.engine.open_reader(INDEX)
    assert (after.model.degree == degrees).all()
    assert [document.document.id for document in after.scan()] == documents
    assert after.info == before.info


def test_an_ad_hoc_document_adds_its_edges_to_the_degrees_of_its_phrases(embedded_comparer: Comparer) -> None:
    """Its own degree is their sum, so that its column of the graph is like that of any document."""
    text = "text:A waggle dance before the waggle dance. Rye flour."
    answer = compare_sides(embedded_comparer, "a1", text, graph=True)
    assert answer.graph
    key = next(node["key"] for node in answer.graph["nodes"] if node.get("side") == "b")
    weights = [edge["weight"] for edge in answer.graph["edges"] if edge["document"] == key]
    assert len(weights) >= 2 and min(weights) > 0
    assert all(entry.relevance_b > 0 for entry in answer.common if entry.count_b)


def test_texts_that_begin_alike_are_told_apart(embedded_comparer: Comparer) -> None:
    beginning = "It was all before then and again with some of it. " * 3
    answer = compare_sides(embedded_comparer, f"text:{beginning} Waggle dance.", f"text:{beginning} Rye flour.")
    assert [entry.phrase for entry in answer.distinct_a] == ["waggle dance"]
    assert [entry.phrase for entry in answer.distinct_b] == ["rye flour"]
    assert not answer.common


@pytest.mark.parametrize(
    "side", ["a1", "ids:a1,b1", "text:waggle dance and oak bark", "query:waggle dance", "search:honey"]
)
def test_a_side_compared_with_itself_is_all_common(comparer: Comparer, documents: Documents, side: str) -> None:
    answer = compare_sides(comparer, side, side, cap=0)
    check_answer(answer, documents)
    assert answer.common and not answer.distinct_a and not answer.distinct_b
    assert all(entry.kind == "shared" for entry in answer.common)
    assert "both sides are the same" in answer.stats.notes


@pytest.mark.parametrize("words", ["the of it all was", "!?", "日本"])
def test_a_text_without_a_phrase_has_nothing_to_share(comparer: Comparer, documents: Documents, words: str) -> None:
    answer = compare_sides(comparer, "a1", f"text:{words}")
    check_answer(answer, documents)
    assert not answer.common and not answer.distinct_b and answer.distinct_a
    assert "B contains no phrase of the index" in answer.stats.notes
    nothing = compare_sides(comparer, f"text:{words}", f"text:{words} and")
    check_answer(nothing, documents)
    assert nothing.no_evidence and nothing.no_evidence.code == "no-phrases"


def test_a_text_of_unknown_words_has_phrases_of_its_own(comparer: Comparer, documents: Documents) -> None:
    words = "text:zzyzx qwrtp"
    answer = compare_sides(comparer, "a1", words)
    check_answer(answer, documents)
    assert not answer.common and answer.distinct_a
    assert [entry.phrase for entry in answer.distinct_b] == ["zzyzx qwrtp"]
    assert "B contains no phrase of the index" in answer.stats.notes
    shared = compare_sides(comparer, words, f"{words} and")
    check_answer(shared, documents)
    assert [(entry.phrase, entry.kind) for entry in shared.common] == [("zzyzx qwrtp", "shared")]
    assert not shared.no_evidence and not shared.distinct_a and not shared.distinct_b


def test_a_text_with_broken_unicode_is_compared(embedded_comparer: Comparer, documents: Documents) -> None:
    answer = compare_sides(embedded_comparer, "a1", Side.from_json({"text": "waggle dance \ud800 rye flour"}))
    check_answer(answer, documents)
    assert answer.common


@pytest.mark.slow
def test_a_very_long_text_is_compared_and_a_longer_one_refused(
    indexed_embedded_engine: Engine, documents: Documents
) -> None:
    comparer = Comparer(indexed_embedded_engine, limits=SideLimits(max_text_bytes=2**21))
    piece = " ".join(document.text for document in documents.values()) + "\n\n"
    text = (piece * (2**21 // len(piece) + 1))[: 2**21]
    answer = compare_sides(comparer, Side.from_json({"text": text}), "a1")
    check_answer(answer, documents)
    assert next(entry for entry in answer.common if entry.phrase == SHARED).count_a > 1000
    with pytest.raises(TooLarge, match="bytes"):
        compare_sides(comparer, Side.from_json({"text": text + "!"}), "a1")
    with pytest.raises(TooLarge, match="bytes"):
        compare_sides(Comparer(indexed_embedded_engine), Side.from_json({"text": "!" * (10 * 2**20 + 1)}), "a1")


def test_the_empty_documents_of_an_index_have_nothing_to_share(writable_engine: Engine) -> None:
    from indexer.analysis.analyzer import Analyzer

    empty = [Document("nothing", "", ""), Document("little", "", "of the")]
    writable_engine.add_documents(INDEX, Analyzer(writable_engine.open_reader(INDEX).model).analyse_all(empty))
    answer = compare_sides(Comparer(writable_engine), "nothing", "little")
    assert answer.no_evidence and answer.no_evidence.code == "no-phrases"
    assert compare_sides(Comparer(writable_engine), "nothing", "a1").distinct_b


@pytest.mark.slow
def test_a_thousand_documents_against_a_thousand_take_two_requests(writable_engine: Engine) -> None:
    answer = compare_thousands(writable_engine)
    assert len(answer.a.ids) == len(answer.b.ids) == 1000
    assert answer.candidates and max(len(side) for side in answer.candidates.values()) <= 200
    assert answer.common


def compare_thousands(engine: Engine) -> Comparison:
    from indexer.analysis.analyzer import Analyzer

    many = list(generate_field_documents(2000, seed=5, prefix="many"))
    engine.add_documents(INDEX, Analyzer(engine.open_reader(INDEX).model).analyse_all(many))
    comparer = Comparer(engine)
    halves = (",".join(document.id for document in many[start::2]) for start in (0, 1))
    before = engine.request_count
    answer = compare_sides(comparer, *(f"ids:{half}" for half in halves), candidates=True)
    assert engine.request_count - before == 2
    return answer


def test_the_corpus_is_the_same_every_time() -> None:
    assert make_planted_corpus() == make_planted_corpus()


VECTOR = [0.5, -2.0, 1.25]


@pytest.fixture(scope="module")
def vector_comparer(tmp_path_factory: pytest.TempPathFactory, indexed_embedded_engine: Engine) -> Iterator[Comparer]:
    """A comparer on a copy of the index that has vectors of three dimensions."""
    reader = indexed_embedded_engine.open_reader(INDEX)
    with open_engine(str(tmp_path_factory.mktemp("vectors"))) as engine:
        copy_index(reader, engine, settings={VECTOR_SETTING: 3})
        yield Comparer(engine)


@pytest.mark.parametrize("other", ["a1", "ids:b1,d0000", "query:waggle dance", "text:A waggle dance.", "vector"])
def test_a_query_without_words_compares_with_every_kind_of_side(
    vector_comparer: Comparer, documents: Documents, other: str
) -> None:
    query = Side.from_query("", VECTOR)
    side = Side.from_query(" ", VECTOR[::-1]) if other == "vector" else Side.from_text(other)
    for a, b in ((query, side), (side, query)):
        for groups in (None, frozenset({"guests"})):
            answer = compare_sides(vector_comparer, a, b, groups=groups)
            check_answer(answer, documents)
            assert "a vector" in (answer.a.title, answer.b.title)
            assert answer.match is None or (answer.match.matched, answer.match.lacks) == ((), ())


def test_queries_that_differ_in_their_vector_only_are_two_nodes_of_the_graph(vector_comparer: Comparer) -> None:
    a, b = Side.from_query("waggle dance", VECTOR), Side.from_query("waggle dance", VECTOR[::-1])
    assert "both sides are the same" in compare_sides(vector_comparer, a, a).stats.notes
    assert "both sides are the same" not in compare_sides(vector_comparer, a, b).stats.notes


def test_a_vector_must_have_the_length_of_those_of_the_epoch(
    vector_comparer: Comparer, embedded_comparer: Comparer
) -> None:
    for comparer, side, message in (
        (vector_comparer, Side.from_query("waggle dance", [1.0, 2.0]), "2 numbers, those of the index have 3"),
        (vector_comparer, Side.from_json({"text": "Waggle.", "vector": [1.0] * 4}), "4 numbers"),
        (embedded_comparer, Side.from_query("", VECTOR), "the index has no vectors"),
    ):
        with pytest.raises(BadSide, match=message):
            compare_sides(comparer, "a1", side)
        with pytest.raises(BadSide, match=message):
            comparer.explain_query_page([comparer.make_spec(INDEX, Side.from_id("a1"), side)])


def test_a_side_with_a_vector_is_written_as_it_is_read() -> None:
    for written in ({"query": "bees", "vector": VECTOR}, {"text": "Bees.", "vector": VECTOR}):
        assert Side.from_json(written).to_json() == written
    alone = Side.from_json({"vector": VECTOR})
    assert alone == Side.from_query("", VECTOR) == Side.from_json(alone.to_json())
    assert alone == Side.from_query("", encode_vector(VECTOR)) and alone.is_only_vector
    assert "vector" not in repr(alone)


def test_only_a_query_may_be_without_words() -> None:
    for written in ({"text": "", "vector": VECTOR}, {"query": " "}, {}):
        with pytest.raises(BadSide):
            Side.from_json(written)
    with pytest.raises(BadSide, match="zero"):
        Side.from_query("bees", [0.0])
