"""A case for each method that a similar method decides differently."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.support.problems import make_problem, replace_features
from worker.methods.base import MethodResult, PairProblem, RankedList
from worker.methods.context_fuzzy import ContextFuzzy, collect_context_words
from worker.methods.lemma_vectors import LemmaText, cosine_similarity
from worker.methods.log_evidence import MIN_DISTANCE_BELOW_CUT
from worker.methods.patent_com import compute_signed_chi_square
from worker.methods.registry import get_method
from worker.methods.string_fuzzy import StringFuzzy
from worker.methods.topic_label import compute_pmi, score_topic_labels
from worker.solver.parameters import PAPER, Parameters

# only b contains "page rank", but other documents have it together with a's "web graph" and "link analysis"
WEB = [
    "web graph link analysis hub authority",
    "page rank crawl index",
    "web graph page rank link analysis",
    "web graph page rank crawl",
    "protein fold crystal",
    "protein fold index",
    "noise words here",
    "crawl index noise",
]
WEB_PHRASES = ["web graph", "link analysis", "page rank", "crawl", "hub"]
NO_DELTA = PAPER.with_options(delta=0.0)
LOG_EVIDENCE = Parameters(lambda_=0.0, delta=0.0, kappa=1.0, threshold="log")


def list_phrases(result: MethodResult, ranked: RankedList) -> list[str]:
    return [result.phrases[i] for i in ranked.indices]


def list_common(name: str, problem: PairProblem) -> list[str]:
    result = get_method(name).sort_phrases(problem)
    return list_phrases(result, result.common)


def test_containment_lists_as_common_what_both_texts_contain() -> None:
    problem = make_problem(["a b c", "b c d", "x"], ["a", "b c", "d"])
    result = get_method("containment").sort_phrases(problem)
    lists = [list_phrases(result, ranked) for ranked in (result.common, result.distinct_a, result.distinct_b)]
    assert lists == [["b c"], ["a"], ["d"]]


def test_containment_counts_a_phrase_that_is_salient_on_one_side_only() -> None:
    problem = make_problem(["a b", "b c", "x"], ["b"])
    problem = replace_features(problem, is_salient_b=np.array([False]))
    assert list_common("containment", problem) == ["b"]
    assert list_common("cda_no_graph", problem) == ["b"]


def test_word_match_knows_single_words_where_the_others_know_phrases() -> None:
    problem = make_problem(["web graph mining", "web page mining", "x y", "z"], ["web graph", "web page"])
    result = get_method("word_match").sort_phrases(problem)
    assert list_phrases(result, result.common) == ["mining", "web"]
    assert list_phrases(result, result.distinct_a) == ["graph"] and list_phrases(result, result.distinct_b) == ["page"]
    assert list_common("containment", problem) == []


def test_word_match_keeps_twenty_words_by_tf_idf() -> None:
    rare = " ".join(f"r{i} r{i}" for i in range(20))
    problem = make_problem([f"{rare} shared", "shared other", "x", "y"], [])
    result = get_method("word_match").sort_phrases(problem)
    assert len(result.distinct_a) == 20 and len(result.common) == 0


def test_topic_label_prefers_the_phrase_that_cooccurs_with_the_text() -> None:
    texts = [
        "web graph page rank link misc item",
        "web page rank",
        "page rank link web",
        "misc item cat dog",
        "misc item bird",
        "misc item fish",
    ]
    problem = make_problem(texts, ["page rank", "misc item"])
    result = get_method("topic_label").sort_phrases(problem)
    assert result.relevance_a[0] > result.relevance_a[1]
    assert problem.a.count[0] == problem.a.count[1]  # counts alone cannot tell them apart


def test_topic_label_scores_by_mutual_information() -> None:
    texts = [LemmaText(["w", "p"]), LemmaText(["w", "p"]), LemmaText(["q"]), LemmaText(["q"])]
    holders = np.array([True, True, False, False])
    assert score_topic_labels(["w", "q"], texts, [holders]) == pytest.approx([0.5 * np.log(2)])
    assert compute_pmi(np.array([[True, False, False, False]]), ~holders) == pytest.approx([0.0])


def test_topic_label_chooses_only_phrases_of_the_text() -> None:
    problem = make_problem(WEB, WEB_PHRASES)
    result = get_method("topic_label").sort_phrases(problem)
    assert list_phrases(result, result.common) == []
    assert set(list_phrases(result, result.distinct_a)) == {"web graph", "link analysis", "hub"}


def test_patent_com_takes_a_shared_phrase_as_distinct_if_its_counts_differ_much() -> None:
    texts = ["graph " * 12 + "mining tool " * 2, "graph mining tool " * 2 + "other words " * 10, "x"]
    problem = make_problem(texts, ["graph", "mining"])
    result = get_method("patent_com").sort_phrases(problem)
    assert list_phrases(result, result.common) == ["mining"] and list_phrases(result, result.distinct_a) == ["graph"]
    assert set(list_common("containment", problem)) == {"graph", "mining"}


def test_patent_com_uses_the_chi_square_of_the_two_by_two_table() -> None:
    problem = make_problem(["p p p q", "p q q q", "x"], ["p", "q"])
    # the table [[3, 1], [1, 3]]: 8 * (3*3 - 1*1)^2 / (4 * 4 * 4 * 4) = 2
    assert compute_signed_chi_square(problem) == pytest.approx([2.0, -2.0])


def test_string_fuzzy_finds_a_phrase_whose_words_are_apart() -> None:
    texts = ["web graph mining web graph", "graph of the web graph web pages"] + [f"filler{i}" for i in range(20)]
    problem = make_problem(texts, ["web graph", "mining"])
    problem = replace_features(problem, count_b=np.zeros(2, dtype=np.int64), is_salient_b=np.zeros(2, dtype=bool))
    assert list_common("string_fuzzy", problem) == ["web graph"]
    assert list_common("containment", problem) == []


def test_string_fuzzy_requires_more_than_its_threshold_on_both_sides() -> None:
    problem = make_problem(["a", "a", "x"], ["a"])
    for partial, expected in ((3.0, []), (3.1, ["a"])):
        result = StringFuzzy().sort_phrases(
            replace_features(problem, word_bm25_a=np.array([9.0]), word_bm25_b=np.array([partial]))
        )
        assert list_phrases(result, result.common) == expected


def test_context_fuzzy_finds_a_phrase_by_the_words_around_it() -> None:
    texts = [
        "vehicle engine wheel driver road",
        "automobile engine wheel driver road",
        "vehicle engine wheel driver",
        "automobile engine wheel road",
        "cell protein gene",
        "cell gene membrane",
    ]
    problem = make_problem(texts, ["vehicle", "automobile"])
    assert set(list_common("context_fuzzy", problem)) == {"vehicle", "automobile"}
    assert list_common("string_fuzzy", problem) == []


def test_context_fuzzy_reads_five_words_on_each_side() -> None:
    text = LemmaText([*"abcdefg", "x", *"hijklmn"])
    assert collect_context_words("x", [text], 5) == [*"cdefg", *"hijkl"]
    assert collect_context_words("absent", [text], 5) == []
    assert ContextFuzzy().window == 10


def test_a_phrase_missing_from_one_text_is_common_through_its_neighbours() -> None:
    problem = make_problem(WEB, WEB_PHRASES, parameters=LOG_EVIDENCE)
    assert "page rank" in list_common("cda", problem)
    assert list_common("containment", problem) == [] and list_common("cda_no_graph", problem) == []


def test_cda_with_the_papers_parameters_finds_it_as_well() -> None:
    assert "page rank" in list_common("cda", make_problem(WEB, WEB_PHRASES, parameters=NO_DELTA))


@pytest.mark.parametrize("evidence", ["partial_match", "topic_cosine"])
def test_partial_match_and_topic_raise_the_margin_of_a_phrase_the_other_text_lacks(evidence: str) -> None:
    plain = make_problem(WEB, WEB_PHRASES, parameters=LOG_EVIDENCE.with_options(word_weight=2.0, topic_weight=2.0))
    feature = np.zeros(len(WEB_PHRASES))
    feature[0] = 0.5
    supported = replace_features(plain, **{f"{evidence}_a": feature, f"{evidence}_b": feature})
    change = get_method("cda").sort_phrases(supported).margin - get_method("cda").sort_phrases(plain).margin
    assert change[0] > 0.2 and change[0] > change[1]


def test_the_log_threshold_lists_as_distinct_what_the_mean_threshold_drops() -> None:
    logs = get_method("cda").sort_phrases(
        make_problem(WEB, WEB_PHRASES, parameters=LOG_EVIDENCE.with_options(cut=50.0))
    )
    means = get_method("cda").sort_phrases(make_problem(WEB, WEB_PHRASES, parameters=NO_DELTA))
    assert len(logs.common) == 0
    assert len(logs.distinct_a) + len(logs.distinct_b) == len(WEB_PHRASES)
    assert len(means.common) + len(means.distinct_a) + len(means.distinct_b) < len(WEB_PHRASES)


def test_the_paper_preset_notes_its_lambda_and_counts_its_steps() -> None:
    result = get_method("cda").sort_phrases(make_problem(WEB, WEB_PHRASES, parameters=PAPER))
    assert len(result.notes) == 1 and "lambda 0.1" in result.notes[0]
    assert 0 < result.iterations < 50 and 0 < result.rounds < 5


def test_the_joint_model_raises_the_relevance_of_its_selection_and_two_step_does_not() -> None:
    p = NO_DELTA.with_options(lambda_=1.0, kappa=1.0)
    problem = make_problem(WEB, WEB_PHRASES, parameters=p)
    joint, apart = get_method("cda").sort_phrases(problem), get_method("cda_two_step").sort_phrases(problem)
    chosen = joint.common.indices
    assert chosen.size
    assert (joint.relevance_a[chosen] > apart.relevance_a[chosen] * (1 + 1e-6)).all()
    same = get_method("cda").sort_phrases(replace(problem, parameters=p.with_options(lambda_=0.0, tolerance=1e-14)))
    assert np.allclose(same.relevance_a, apart.relevance_a) and np.allclose(same.margin, apart.margin, atol=1e-4)


def test_the_sum_lets_one_side_decide_where_the_product_needs_both() -> None:
    texts = ["alpha beta", "gamma beta", "delta x", "delta y", "alpha z", "beta q"]
    phrases = ["alpha", "beta", "gamma"]
    lopsided = make_problem(texts, phrases, parameters=NO_DELTA)
    product, total = get_method("cda").sort_phrases(lopsided), get_method("cda_alter_mea").sort_phrases(lopsided)
    assert list_phrases(product, product.common) == ["beta"]
    assert "gamma" in list_phrases(total, total.common)


def test_no_graph_needs_the_phrase_to_occur_where_two_step_does_not() -> None:
    problem = make_problem(WEB, WEB_PHRASES, parameters=NO_DELTA)
    assert list_common("cda_no_graph", problem) == []
    assert "page rank" in list_common("cda_two_step", problem)


def test_a_phrase_pair_occurs_where_both_members_do() -> None:
    text = LemmaText("web page of the web graph".split())
    assert text.find_spans("web page@@web graph") == [(0, 2), (4, 6)]
    assert text.find_spans("web page@@link") == []
    assert text.find_spans("web") == [(0, 1), (4, 5)]


def test_the_cosine_of_nothing_is_zero() -> None:
    assert cosine_similarity({}, {"a": 1.0}) == 0.0
    assert cosine_similarity({"a": 1.0, "b": 1.0}, {"a": 2.0, "b": 2.0}) == pytest.approx(1.0)


def test_a_trace_of_relevance_counts_as_none() -> None:
    result = get_method("cda").sort_phrases(make_problem(WEB, WEB_PHRASES, parameters=LOG_EVIDENCE))
    margin = dict(zip(result.phrases, result.margin, strict=True))
    assert margin["hub"] < -3 < margin["crawl"], "a ten-thousandth of what every document would get"


def test_the_base_weight_raises_the_margin_of_frequent_phrases() -> None:
    problem = make_problem(WEB, WEB_PHRASES, parameters=LOG_EVIDENCE.with_options(base_weight=0.5))
    often = replace(problem, document_frequency=problem.document_frequency * np.array([9, 1, 1, 1, 1]))
    change = get_method("cda").sort_phrases(often).margin - get_method("cda").sort_phrases(problem).margin
    assert change[0] == pytest.approx(0.5 * np.log(9)) and not change[1:].any()


def test_a_part_of_an_implied_phrase_is_no_informative_distinct_phrase() -> None:
    problem = make_problem(
        ["big dog run", "cat run", "big dog cat", "dog run"], ["big dog", "dog", "cat"], parameters=LOG_EVIDENCE
    )
    result = get_method("cda").sort_phrases(
        replace_features(problem, partial_match_b=np.array([1.0, 0.0, 1.0]), topic_cosine_b=np.array([1.0, -1.0, 0.0]))
    )
    assert result.phrases[int(result.common.indices[0])] == "big dog"
    assert [result.phrases[i] for i in result.distinct_a.indices] == ["dog"] and result.distinct_a.fillers == 0


def test_a_phrase_without_a_neighbour_is_not_implied() -> None:
    texts = ["web graph lone star", "web graph crawl", "web graph crawl", "web graph lone star", "noise"]
    phrases = ["web graph", "lone star", "crawl"]
    with_neighbour = make_problem(texts, phrases, parameters=LOG_EVIDENCE)
    without_neighbour = make_problem([*texts[:3], *texts[4:]], phrases, parameters=LOG_EVIDENCE)
    near = {"topic_cosine_b": np.ones(3), "parameters": replace(LOG_EVIDENCE, topic_weight=9.0)}
    margins = [
        get_method("cda").sort_phrases(replace_features(problem, **near)).margin[1]
        for problem in (with_neighbour, without_neighbour)
    ]
    assert margins[0] > 0 > margins[1] == pytest.approx(-MIN_DISTANCE_BELOW_CUT), "whatever other evidence there is"
    matched = replace_features(without_neighbour, partial_match_b=np.ones(3), **near)
    assert get_method("cda").sort_phrases(matched).margin[1] > 0, "unless the text has other words for it"
    weak = (
        get_method("cda").sort_phrases(replace(without_neighbour, parameters=replace(LOG_EVIDENCE, cut=9.0))).margin[1]
    )
    assert weak < -MIN_DISTANCE_BELOW_CUT, "evidence still ranks it"
