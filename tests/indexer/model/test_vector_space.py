"""The space of the documents' own vectors: places, centroids of phrases, and evidence with the hit left out."""

from __future__ import annotations

import numpy as np
import pytest

from indexer.model.evidence_spaces import EvidenceSpaces, Reservoir, SpaceHit, SpaceQuery, normalise_rows
from indexer.model.vector_space import MAX_DIMENSIONS, PhraseCentroids, VectorSpace, fit_projection

FIELDS, PER_FIELD, DIMENSIONS = 6, 80, 200
DOCUMENTS = FIELDS * PER_FIELD
LONE = FIELDS
"""A phrase of one document only; phrase f < FIELDS is in all documents of field f."""


def make_vectors() -> np.ndarray:
    """Return vectors of documents, field after field; those of a field share a direction."""
    rng = np.random.default_rng(3)
    centres = rng.standard_normal((FIELDS, DIMENSIONS))
    noise = rng.standard_normal((DOCUMENTS, DIMENSIONS))
    return (np.repeat(centres, PER_FIELD, axis=0) + 1.5 * noise + 2.0).astype(np.float32)


@pytest.fixture(scope="module")
def space() -> VectorSpace:
    vectors = make_vectors()
    projection = fit_projection(vectors)
    places = projection.project(vectors)
    means = places.reshape(FIELDS, PER_FIELD, -1).mean(axis=1) - places.mean(axis=0)
    centroids = PhraseCentroids.from_means(
        np.concatenate([means, places[:1] - places.mean(axis=0)]).astype(np.float32),
        np.array([PER_FIELD] * FIELDS + [1]),
    )
    fields = np.repeat(np.arange(FIELDS), PER_FIELD)
    return VectorSpace(projection, centroids, Reservoir(np.arange(DOCUMENTS + 1), fields), places)


def measure(
    space: VectorSpace, query: np.ndarray, hit: np.ndarray, phrases: list[int], holds: list[bool]
) -> np.ndarray:
    located = space.locate_query(SpaceQuery(np.zeros(0, int), query))
    assert located is not None
    ids = np.array(phrases)
    described = SpaceHit(ids, {}, None, hit[np.newaxis], np.array(holds)[:, np.newaxis])
    evidence = space.measure_hit(located, space.look_up_phrases(ids), described)
    assert evidence is not None
    return evidence


def test_a_place_has_length_one_and_at_most_128_dimensions(space: VectorSpace) -> None:
    places = space.projection.project(make_vectors())
    assert places.shape == (DOCUMENTS, MAX_DIMENSIONS)
    assert np.linalg.norm(places, axis=1) == pytest.approx(np.ones(DOCUMENTS), abs=1e-5)
    assert fit_projection(make_vectors()).axes.tobytes() == space.projection.axes.tobytes()


def test_query_and_hit_of_one_field_are_about_its_phrase(space: VectorSpace) -> None:
    vectors = make_vectors()
    evidence = measure(space, vectors[0], vectors[1], list(range(FIELDS)), [f == 0 for f in range(FIELDS)])
    assert evidence.argmax() == 0
    assert evidence[0] > max(evidence[1:]) + 2


def test_a_phrase_that_only_the_hit_contains_has_no_direction(space: VectorSpace) -> None:
    """Its centroid is the hit itself, which would always be close to it."""
    vectors = make_vectors()
    with_phrase = measure(space, vectors[1], vectors[0], [LONE], [True])
    near_query = measure(space, vectors[1], vectors[0], [LONE], [False])
    assert with_phrase[0] < near_query[0] - 1


def test_random_documents_are_measured_like_hits(space: VectorSpace) -> None:
    vectors = make_vectors()
    located = space.locate_query(SpaceQuery(np.zeros(0, int), vectors[0]))
    assert located is not None
    measured = space.measure_reservoir(located)
    for number in (1, PER_FIELD, DOCUMENTS - 1):
        own = measure(space, vectors[0], vectors[number], [number // PER_FIELD], [True])
        assert own[0] == pytest.approx(measured[number], abs=0.02)


@pytest.mark.parametrize("vector", [None, np.ones(DIMENSIONS - 1, np.float32)])
def test_a_query_without_a_fitting_vector_has_no_place(space: VectorSpace, vector: np.ndarray | None) -> None:
    assert space.locate_query(SpaceQuery(np.zeros(0, int), vector)) is None


def test_centroids_keep_their_direction_in_8_bits() -> None:
    means = np.random.default_rng(1).standard_normal((50, 128)).astype(np.float32)
    means[7] = 0
    sums, counts = PhraseCentroids.from_means(means, np.arange(1, 51)).take(np.arange(50))
    assert counts.tolist() == list(range(1, 51))
    cosines = np.einsum("ij,ij->i", normalise_rows(sums), normalise_rows(means))
    assert min(np.delete(cosines, 7)) > 0.999
    assert not sums[7].any()


def test_spaces_tell_hits_of_the_field_from_random_ones_and_leave_out_hits_without_a_vector(space: VectorSpace) -> None:
    vectors = make_vectors()
    fields = np.repeat(np.arange(FIELDS), PER_FIELD)
    spaces = EvidenceSpaces([space], Reservoir(np.arange(DOCUMENTS + 1), fields))

    def describe(number: int) -> SpaceHit:
        holds = np.array([[True], [False]])
        return SpaceHit(np.array([number // PER_FIELD, -1]), {}, None, vectors[number : number + 1], holds)

    without = SpaceHit(np.array([0, -1]), {}, None)
    found = spaces.measure(SpaceQuery(np.zeros(0, int), vectors[0]), [describe(1), describe(PER_FIELD), without])
    assert found is not None
    # of six fields one is the query's, so every sixth random document is as good as a hit of that field
    assert found.noise[0] == pytest.approx(1 / FIELDS, abs=0.17) and found.noise[2] > 1 / FIELDS
    assert found.strength[0] > found.strength[2]
    assert found.noise[[1, 3, 4, 5]].tolist() == [1, 1, 1, 1] and not found.strength[[1, 3, 4, 5]].any()
    assert np.isnan(found.by_space["vectors"][4])


def test_the_closeness_of_a_hit_is_measured_apart_from_its_phrases(space: VectorSpace) -> None:
    vectors = make_vectors()
    located = space.locate_query(SpaceQuery(np.zeros(0, int), vectors[0]))
    assert located is not None
    closeness = space.measure_random_closeness(located)
    assert closeness.mean() == pytest.approx(0, abs=1e-4) and closeness.std() == pytest.approx(1, abs=1e-4)
    for number in (0, 1, DOCUMENTS - 1):
        hit = SpaceHit(np.array([LONE]), {}, None, vectors[number : number + 1], np.array([[False]]))
        assert space.measure_closeness(located, hit) == pytest.approx(closeness[number], abs=1e-3)
    assert closeness[1] > 1 > closeness[-1]


def test_a_small_reservoir_measures_nothing(space: VectorSpace) -> None:
    hit = SpaceHit(np.array([0]), {}, None, make_vectors()[:1], np.array([[True]]))
    assert (
        EvidenceSpaces([space], Reservoir(np.arange(200), np.zeros(199, int))).measure(
            SpaceQuery(np.zeros(0, int), make_vectors()[0]), [hit]
        )
        is None
    )
