"""Words that a query and a document share, with their places, on both engines: mined as phrases or not."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from indexer.documents import Document
from indexer.engines.base import Engine
from indexer.errors import BadSide
from indexer.indexing.build import AnalysisOptions, build_index
from tests.support.answer_shape import check_answer
from tests.support.engines import ENGINE_KINDS, open_empty_engine
from worker.comparer import Comparer, compare
from worker.explain.query_match import MAX_QUERY_WORDS
from worker.explain.side import Side

FILLER = "The garden is open to the public. Visitors walk through the garden and look at the roses. "
RARE = Document(
    "rare",
    "mgetty 1.2.1: answering Modems",
    "A getty replacement for modem lines. It handles faxes with mgetty and reads config_file 42 in /etc.",
)


def make_documents() -> list[Document]:
    hebrew = Document("hebrew", "שלום עולם", f"{FILLER}ברוכים הבאים לגן הציבורי.")
    accents = Document("accents", "", f"{FILLER}Das Café Müller liegt am Fluß.")
    return [RARE, hebrew, accents, *(Document(f"d{n}", f"Rose garden {n}", FILLER * 2) for n in range(60))]


@pytest.fixture(scope="module", params=ENGINE_KINDS)
def garden(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Comparer]:
    """A comparer on each engine in turn."""
    with open_empty_engine(request.param, tmp_path_factory.mktemp("engine"), request) as engine:
        build_index(make_documents(), engine, "garden", processes=1)
        yield Comparer(engine)


def match_query(garden: Comparer, query: str, side: str = "id:rare") -> tuple[dict[str, str], list[str]]:
    """Compare a side with a query; return the matched words as the side writes them, and those it lacks."""
    comparison = compare(side, f"query:{query}", index="garden", engine=garden)
    check_answer(comparison, {document.id: document for document in make_documents()})
    answer = comparison.to_dict()
    return {word["word"]: word["as"] for word in answer["matched"]}, answer["lacks"]


def test_words_that_no_phrase_holds_are_matched_the_rarest_first(garden: Comparer) -> None:
    words = match_query(garden, "lines 42 spam config_file Mgetty MODEM 1.2.1 printers")
    matched = {"lines": "lines", "42": "42", "config_file": "config_file", "Mgetty": "mgetty", "MODEM": "Modems"}
    assert words == (matched | {"1.2.1": "1.2.1"}, ["spam", "printers"])
    assert list(words[0]) == ["lines", "config_file", "Mgetty", "MODEM", "1.2.1", "42"], "two documents contain 42"


def test_the_first_place_counts_title_before_text(garden: Comparer) -> None:
    answer = compare("query:fax by mgetty", "id:rare", index="garden", engine=garden).to_dict()
    assert answer["matched"] == [
        {"word": "fax", "as": "faxes", "field": "text", "start": 48, "end": 53},
        {"word": "mgetty", "as": "mgetty", "field": "title", "start": 0, "end": 6},
    ]
    assert answer["no_evidence"] is None and "“" in answer["summary"]


def test_a_word_is_listed_once_however_the_query_writes_it(garden: Comparer) -> None:
    assert match_query(garden, "Modem modem spam SPAM") == ({"Modem": "Modems"}, ["spam"])


def test_function_words_count_only_where_the_query_has_nothing_else(garden: Comparer) -> None:
    assert match_query(garden, "what to do with a modem without the manual") == ({"modem": "Modems"}, ["manual"])
    assert match_query(garden, "it with the") == ({"it": "It", "with": "with"}, ["the"])


def test_only_comparisons_of_a_query_with_something_else_have_matches(garden: Comparer) -> None:
    for a, b in (("id:rare", "id:d1"), ("query:modem", "query:fax"), ("id:rare", "text:modem")):
        answer = compare(a, b, index="garden", engine=garden).to_dict()
        assert "matched" not in answer and "lacks" not in answer


def test_a_set_says_which_of_its_documents_contains_a_word(garden: Comparer) -> None:
    answer = compare("ids:d1,d2,rare", "query:roses modem d2 spam", index="garden", engine=garden).to_dict()
    assert [(word["word"], word["id"]) for word in answer["matched"]] == [("modem", "rare"), ("roses", "d1")]
    assert answer["lacks"] == ["d2", "spam"]
    assert match_query(garden, "garden 59 modem", "search:rose") == ({"garden": "garden", "59": "59"}, ["modem"])


def test_a_text_is_matched_like_a_document(garden: Comparer) -> None:
    answer = compare("text:Our Modem lines", "query:modems spam", index="garden", engine=garden).to_dict()
    assert answer["matched"] == [{"word": "modems", "as": "Modem", "field": "text", "start": 4, "end": 9}]
    assert answer["lacks"] == ["spam"]


@pytest.mark.parametrize(
    ("query", "side", "matched", "lacks"),
    [
        ("a", "id:rare", {"a": "A"}, []),
        ("x", "id:rare", {}, ["x"]),
        ("🚀 🚀", "id:rare", {}, []),
        (
            '"modem lines" AND -(fax* OR id:rare) +getty~2',
            "id:rare",
            {"modem": "Modems", "lines": "lines", "fax": "faxes", "getty": "getty"},
            ["id", "rare", "2"],
        ),
        ("modem " + "x" * 200, "id:rare", {"modem": "Modems"}, ["x" * 200]),
        ("עולם שלום modem", "id:hebrew", {"עולם": "עולם", "שלום": "שלום"}, ["modem"]),
        ("café fluß müller Modem", "id:accents", {"café": "Café", "fluß": "Fluß", "müller": "Müller"}, ["Modem"]),
        ("\x00\ud800 modem", "id:rare", {"modem": "Modems"}, []),
    ],
)
def test_any_query_gets_a_sensible_answer(
    garden: Comparer, query: str, side: str, matched: dict[str, str], lacks: list[str]
) -> None:
    assert match_query(garden, query, side) == (matched, lacks)


def test_of_a_very_long_query_the_first_words_are_looked_up(garden: Comparer) -> None:
    found, missing = match_query(garden, " ".join(["modem", *(f"word{n}" for n in range(10_000)), "lines"]))
    assert found == {"modem": "Modems"} and len(missing) == MAX_QUERY_WORDS - 1


def test_the_hits_of_a_page_are_matched_without_a_further_request(garden: Comparer) -> None:
    query = Side.from_json({"query": "modem roses"})
    specs = [garden.make_spec("garden", Side.from_id(id), query) for id in ("rare", "d1", "d2")]
    list(garden.explain(specs))
    before = garden.engine.request_count
    answers = list(garden.explain(specs))
    assert garden.engine.request_count == before + 2, "documents and neighbourhood"
    matches = [answer.match for answer in answers if answer.match]
    assert [[word.written for word in match.matched] for match in matches] == [["Modems"], ["Rose"], ["Rose"]]


def test_a_language_without_a_list_has_its_function_words_by_frequency(tantivy_engine: Engine) -> None:
    texts = [f"Garten {n} liegt hier und der Weg endet dort." for n in range(60)] + ["Ein Modem und ein Fax liegt da."]
    documents = [Document(f"d{n}", "", text) for n, text in enumerate(texts)]
    build_index(documents, tantivy_engine, "garten", AnalysisOptions(language="de"), processes=1)
    answer = compare("id:d60", "query:Modem und Drucker", index="garten", engine=tantivy_engine).to_dict()
    assert [word["word"] for word in answer["matched"]] == ["Modem"] and answer["lacks"] == ["Drucker"]
    only = compare("id:d60", "query:und", index="garten", engine=tantivy_engine).to_dict()
    assert [word["word"] for word in only["matched"]] == ["und"]


def test_a_search_side_has_no_function_words_and_finds_nothing_without_words(garden: Comparer) -> None:
    assert len(compare("search:the fax of the getty", "id:d1", index="garden", engine=garden).a.ids) == 1
    with pytest.raises(BadSide, match="matches no document"):
        compare("search:🚀", "id:d1", index="garden", engine=garden)
