"""Response bodies. The OpenAPI description is built from these models, so their names are part of it; tests check real
answers against them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from worker.jobs.job import JobState

_SPACES = (
    "Of a phrase told by meaning: how far query and hit both lie in its direction, in standard deviations of random "
    "documents, by space: vectors (of the documents), words, topics"
)


class ReplyModel(BaseModel):
    """Base of response models."""

    model_config = ConfigDict(extra="forbid")


class SideReply(ReplyModel):
    kind: Literal["document", "set", "query", "text"]
    ids: list[str]
    title: str


class OnSide(ReplyModel):
    count: int = Field(description="Occurrences of the phrase on this side")
    relevance: float = Field(description="Relevance to this side; 1.0 is that of its average salient phrase")


class Evidence(ReplyModel):
    side: Literal["a", "b"]
    id: str
    field: str
    start: int
    end: int
    snippet: str


class Bridge(ReplyModel):
    id: str
    title: str
    phrases: list[str]
    share: float


class PhraseReply(ReplyModel):
    phrase: str
    display: str
    score: float
    kind: Literal["shared", "implied", "meaning", "distinct"]
    a: OnSide
    b: OnSide
    evidence: list[Evidence]
    noise: float | None = Field(
        default=None, description="Of an implied phrase: share of random documents that have one as good"
    )
    spaces: dict[str, float] | None = Field(default=None, description=_SPACES)
    also: list[str] | None = Field(
        default=None, description="Near-duplicates merged into this entry, and the lemmas of the displayed form"
    )
    own: float | None = Field(
        default=None, description="Share of an implied phrase's relevance that comes from the side that contains it"
    )
    via: list[Bridge] | None = Field(
        default=None, description="Other documents that connect it to the side without it, largest share first"
    )
    partial: float | None = None
    rest: float | None = None


class MatchedWordReply(ReplyModel):
    word: str = Field(description="The word as the query writes it")
    written: str = Field(alias="as", description="The word as the document writes it there")
    id: str | None = Field(default=None, description="The document, if the other side is a set")
    field: Literal["title", "text"]
    start: int
    end: int


MatchedWords = Annotated[
    list[MatchedWordReply],
    Field(
        description="Words of the query that the document contains, in the order of the query, each at its first "
        "place, title before text; function words only if the query has nothing else"
    ),
]
LackedWords = Annotated[list[str], Field(description="Words of the query that the document does not contain")]


class PassageReply(ReplyModel):
    field: Literal["text"]
    start: int
    end: int
    text: str = Field(description="The sentence: the characters of the field from start to end")


Passage = Annotated[
    PassageReply | None,
    Field(
        description="The sentence of the document that is nearest to the query, where one stands out; only if the "
        "document lacks a word of the query"
    ),
]


class StatsReply(ReplyModel):
    phrases: int = Field(description="Phrases in the neighbourhood of the two sides")
    documents: int = Field(description="Documents in the neighbourhood")
    edges: int = Field(description="Connections between these phrases and documents")
    reached: int = Field(
        description="Documents of the whole index that are connected to both sides; at least so many, from 1,000 on"
    )
    left_out: float = Field(
        description="Share of the salient phrases' connections outside the neighbourhood, by weight"
    )
    iterations: int = Field(description="Steps of the longest inner loop of the method; 0 if it solves exactly")
    rounds: int = Field(description="Rounds of the outer loop of the method")
    ms: dict[str, float] = Field(description="Milliseconds of each step")
    notes: list[str] = Field(description="Remarks, for example about parts that were left out")


class CandidateReply(ReplyModel):
    phrase: str
    salience: float
    margin: float


class NoEvidence(ReplyModel):
    code: str
    detail: str


class SourceStateReply(ReplyModel):
    state: Literal["changed", "deleted", "not-indexed", "unknown"] = Field(
        description="changed, deleted, not-indexed: in the source after the last attach; "
        "unknown: the source does not answer, or revisions were not kept when the index was attached"
    )
    detail: str


SourceStates = Annotated[
    dict[str, SourceStateReply] | None,
    Field(
        description="Only for an index attached to a source: the compared documents that the source does not have as "
        "they were attached, by id. It is up to date, also beside a cached answer"
    ),
]


class ComparisonReply(ReplyModel):
    id: str
    index: str
    epoch: str
    method: str
    preset: str
    a: SideReply
    b: SideReply
    summary: str
    matched: MatchedWords | None = None
    lacks: LackedWords | None = None
    passage: Passage = None
    common: list[PhraseReply]
    distinct_a: list[PhraseReply]
    distinct_b: list[PhraseReply]
    stats: StatsReply
    no_evidence: NoEvidence | None
    candidates: dict[str, list[CandidateReply]] | None = None
    graph: dict[str, Any] | None = None
    sources: SourceStates = None


class JobReply(ReplyModel):
    id: str
    state: JobState
    progress: float
    message: str | None = None


class ReasonReply(ReplyModel):
    phrase: str
    display: str
    kind: Literal["shared", "implied", "meaning", "distinct"]
    score: float | None = Field(
        default=None, description="Chance that a reader keeps the phrase, from 0 to 1; none while provisional"
    )
    noise: float | None = Field(
        default=None, description="Of a phrase that only one text contains: share of random documents with one as good"
    )
    spaces: dict[str, float] | None = Field(default=None, description=_SPACES)


class ReasonAddresses(ReplyModel):
    """Addresses of the comparisons behind the lists, which are computed when they are asked for."""

    common: str | None = None
    distinct: str | None = None


class HitReply(ReplyModel):
    hit: str
    state: JobState
    matched: list[MatchedWordReply] | None = Field(
        default=None, description="Words of the query that the hit contains, in the order of the query"
    )
    lacks: list[str] | None = Field(default=None, description="Words of the query that the hit does not contain")
    passage: Passage = None
    common: list[ReasonReply] | None = Field(
        default=None, description="Phrases that the hit and what it is compared with are both about, best first"
    )
    distinct: list[ReasonReply] | None = Field(
        default=None,
        description="Phrases that set the hit apart from the other hits of a query, or from what it is compared with",
    )
    distinct_of_other: list[ReasonReply] | None = Field(
        default=None, description="Phrases that set apart the document or the hits that it is compared with"
    )
    href: ReasonAddresses | None = None


class ExplanationReply(JobReply):
    index: str | None = None
    against: Literal["query", "page", "document", "above"] | None = None
    query: str | None = None
    document: str | None = None
    explanations: list[HitReply]
    sources: SourceStates = None


class IngestReply(JobReply):
    index: str | None = None
    written: int | None = Field(default=None, description="Documents added or replaced")


class IndexReply(ReplyModel):
    name: str
    epoch: str
    documents: int
    phrases: int
    edges: int
    created: str
    drift: float = Field(description="Share of documents added, changed or deleted since the epoch was built")
    source: str | None = Field(description="The Elasticsearch index it was built from with attach")
    searched_by: list[Literal["words", "vector", "meaning"]] = Field(
        description="vector: knn with query_vector, as the documents brought vectors; meaning: knn with "
        "query_vector_builder, as their vectors were made from their texts"
    )
    settings: dict[str, Any]


class FieldsReply(ReplyModel):
    """Field names in a search; null if the source has no such field."""

    title: str | None
    text: str | None
    date: str | None
    url: str | None
    vector: str | None = Field(
        description="The field of a source that the vectors of the documents were read from; null without vectors"
    )


class FacetReply(ReplyModel):
    field: str = Field(description="Name in the terms queries and aggregations of a search")
    name: str | None = Field(description="Name in a side (search:NAME:VALUE); null if only the source has it")


class WholeIndexReply(IndexReply):
    fields: FieldsReply
    facets: list[FacetReply] = Field(description="Facets of the documents the caller may read, most used first")


class UnreadableIndexReply(ReplyModel):
    name: str
    code: str = Field(description="corrupt-index, unsupported-version or bad-setting")
    detail: str


class IndexesReply(ReplyModel):
    indexes: list[IndexReply]
    unreadable: list[UnreadableIndexReply] = Field(description="Indexes that cannot be used until they are repaired")


class SalientReply(ReplyModel):
    phrase: str
    display: str
    salience: float
    count: int


class DocumentReply(ReplyModel):
    index: str
    id: str
    title: str
    text: str
    date: str | None
    url: str | None
    facets: dict[str, list[str]]
    acl: list[str] | None = Field(
        default=None, description="Groups that may read it; only for callers who may read every document"
    )
    extra: dict[str, Any]
    version: str
    salient: list[SalientReply]


class SuggestionReply(ReplyModel):
    phrase: str
    display: str
    documents: int


class SuggestionsReply(ReplyModel):
    index: str
    suggestions: list[SuggestionReply]


class FeedbackReply(ReplyModel):
    id: str
    recorded: int


class WhyReply(ReplyModel):
    state: Literal["done", "pending", "unavailable", "not-indexed", "changed"] = Field(
        description="unavailable: reasons cannot be computed now; "
        "not-indexed, changed: the document was added to or changed in the source after the last attach"
    )
    code: str | None = Field(default=None, description="Error code, if the reasons are unavailable")
    detail: str | None = Field(default=None, description="Why there are no reasons")
    provisional: bool | None = Field(
        default=None, description="A quick guess by containment, until the comparison is done"
    )
    common: list[ReasonReply] | None = Field(default=None, description="Phrases shared with the query")
    distinct: list[ReasonReply] | None = Field(
        default=None, description="Phrases that set the hit apart from the rest of the page"
    )
    matched: MatchedWords
    lacks: LackedWords
    passage: Passage = None
    href: ReasonAddresses | None = None


class SearchHit(BaseModel):
    model_config = ConfigDict(extra="allow")
    found_by: list[Literal["words", "vector"]] | None = Field(
        default=None,
        alias="_found_by",
        description="Only in a search with knn: parts of the search that found the hit",
    )
    why: WhyReply | None = None


class SearchHits(ReplyModel):
    total: dict[str, Any]
    max_score: float | None
    hits: list[SearchHit]


class SearchReply(BaseModel):
    model_config = ConfigDict(extra="allow")
    took: int
    timed_out: bool
    hits: SearchHits
    aggregations: dict[str, Any] | None = None


class Misfit(ReplyModel):
    at: str
    detail: str


class ProblemReply(ReplyModel):
    type: str
    title: str
    status: int
    detail: str
    code: str
    errors: list[Misfit] | None = None
    id: str | None = Field(default=None, description="The job that failed")
    state: JobState | None = None


class SearchCause(ReplyModel):
    type: str = Field(description="Error code")
    reason: str


class SearchError(SearchCause):
    root_cause: list[SearchCause]
    problem: ProblemReply


class SearchErrorReply(ReplyModel):
    """An error in the form of Elasticsearch."""

    error: SearchError
    status: int


class MultiSearchReply(ReplyModel):
    took: int
    responses: list[SearchReply | SearchErrorReply] = Field(description="Of each search, in their order")


class CountReply(BaseModel):
    model_config = ConfigDict(extra="allow")
    count: int


class LookedUpDocument(BaseModel):
    model_config = ConfigDict(extra="allow")
    found: bool


class MgetReply(ReplyModel):
    docs: list[LookedUpDocument] = Field(description="In the order of the request")


class VersionReply(BaseModel):
    model_config = ConfigDict(extra="allow")
    number: str


class InfoReply(BaseModel):
    model_config = ConfigDict(extra="allow")
    version: VersionReply
    tagline: str


class HealthReply(ReplyModel):
    status: Literal["ok", "unavailable"]
    checks: dict[str, str] | None = None
