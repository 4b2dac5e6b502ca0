"""Phrases that say the same are merged into one entry."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from tests.support.phrase_models import make_phrase_model
from worker.answer.near_duplicates import NearDuplicates
from worker.phrasing.proper_names import FullForm

phrases = st.lists(st.sampled_from(["a", "b", "ab", "ba"]), min_size=1, max_size=3).map(" ".join)


def test_near_duplicates_are_merged_into_the_first_of_them() -> None:
    acronyms = make_phrase_model({"rl": ["reinforcement learn"]})
    ranked = ["deep web graph", "rl", "web graph", "reinforcement learn", "graph", "deep web graphs", "mail"]
    ranked += ["x@@y", "y@@x", "x"]
    assert NearDuplicates(acronyms).group_near_duplicates(ranked) == [
        ("deep web graph", ("web graph", "graph", "deep web graphs")),
        ("rl", ("reinforcement learn",)),
        ("mail", ()),
        ("x@@y", ("y@@x", "x")),
    ]


def test_an_acronym_within_a_phrase_is_merged_with_its_expansion() -> None:
    acronyms = make_phrase_model({"smt": ["statistical machine translation"]})
    ranked = ["machine translation", "smt system", "machine", "smt"]
    assert NearDuplicates(acronyms).group_near_duplicates(ranked) == [
        ("machine translation", ("smt system", "machine", "smt"))
    ]
    assert len(NearDuplicates(make_phrase_model()).group_near_duplicates(ranked)) == 2
    ambiguous = make_phrase_model({"ml": ["machine learn", "maximum likelihood"]})
    assert len(NearDuplicates(ambiguous).group_near_duplicates(["machine likelihood", "ml model"])) == 2, (
        "its expansions are not mixed"
    )


def test_initials_of_three_words_are_merged_with_them() -> None:
    ranked = ["hdt", "hierarchical document transformer", "meta learn", "ml", "war", "weak acid reaction"]
    model = replace(make_phrase_model(), phrases=["hdt", "ml", "war"], display_forms=["HDT", "ML", "war"])
    assert NearDuplicates(model).group_near_duplicates(ranked)[0] == ("hdt", (ranked[1],))
    assert [representative for representative, _ in NearDuplicates(model).group_near_duplicates(ranked)] == [
        "hdt",
        *ranked[2:],
    ]


@given(st.lists(phrases, unique=True, max_size=8), st.integers(0, 8))
def test_representatives_do_not_depend_on_what_follows_in_the_list(ranked: list[str], size: int) -> None:
    merged, beginning = (
        NearDuplicates(make_phrase_model()).group_near_duplicates(phrases) for phrases in (ranked, ranked[:size])
    )
    assert [first for first, _ in beginning] == [first for first, _ in merged][: len(beginning)]


def test_parts_of_one_name_are_one_entry() -> None:
    find_full_form = dict.fromkeys(["shapiro", "wilk"], FullForm("Shapiro-Wilk", "shapiro wilk")).get
    ranked = ["shapiro", "test", "wilk", "sample"]
    duplicates = NearDuplicates(make_phrase_model())
    merged = [("shapiro", ("wilk",)), ("test", ()), ("sample", ())]
    assert duplicates.group_near_duplicates(ranked, lambda rank: 3, find_full_form) == merged
    assert duplicates.group_near_duplicates(ranked, lambda rank: 1, find_full_form) == merged[:1]
    assert [representative for representative, _ in duplicates.group_near_duplicates(ranked)] == ranked
