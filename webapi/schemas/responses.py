"""Response bodies. The OpenAPI description is built from these models, so their names are part of it; tests check real
answers against them."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from worker.jobs.job import JobState


class ReplyModel(BaseModel):
    """Base of response models."""

    model_config = ConfigDict(extra="forbid")


class SideReply(ReplyModel):
    kind: Literal["document", "set", "query", "text"]
    ids: list[str]
    title: str


class OnSide(ReplyModel):
    count: int = Field(description="How often the phrase occurs on this side")
    relevance: float = Field(description="1.0: like an average salient phrase of this side")


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
    kind: Literal["shared", "implied", "distinct"]
    a: OnSide
    b: OnSide
    evidence: list[Evidence]
    also: list[str] | None = Field(
        default=None, description="Near-duplicates folded into this entry, and the lemmas of what is displayed"
    )
    own: float | None = Field(default=None, description="Share of an implied phrase's relevance owed to the other side")
    via: list[Bridge] | None = Field(default=None, description="Third documents that carry it, largest share first")
    partial: float | None = None
    rest: float | None = None


class StatsReply(BaseModel):
    model_config = ConfigDict(extra="allow")
    phrases: int
    documents: int
    edges: int
    iterations: int
    rounds: int
    ms: dict[str, float]
    notes: list[str]


class CandidateReply(ReplyModel):
    phrase: str
    salience: float
    margin: float


class NoEvidence(ReplyModel):
    code: str
    detail: str


class ComparisonReply(ReplyModel):
    id: str
    index: str
    epoch: str
    method: str
    preset: str
    a: SideReply
    b: SideReply
    summary: str
    common: list[PhraseReply]
    distinct_a: list[PhraseReply]
    distinct_b: list[PhraseReply]
    stats: StatsReply
    no_evidence: NoEvidence | None
    candidates: dict[str, list[CandidateReply]] | None = None
    graph: dict[str, Any] | None = None


class JobReply(ReplyModel):
    id: str
    state: JobState
    progress: float
    message: str | None = None


class HitReply(ReplyModel):
    hit: str
    state: JobState
    comparison: ComparisonReply | None = None


class ExplanationReply(JobReply):
    explanations: list[HitReply]


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
    drift: float = Field(description="Share of documents changed since the epoch was built")
    source: str | None = Field(description="The Elasticsearch index it was attached to")
    settings: dict[str, Any]


class FieldsReply(ReplyModel):
    """What a search calls them; null where the source has no such field."""

    title: str | None
    text: str | None
    date: str | None
    url: str | None


class FacetReply(ReplyModel):
    field: str = Field(description="What terms and aggregations of a search call it")
    name: str | None = Field(description="What a side calls it (search:NAME:VALUE); null: a field of the source only")


class WholeIndexReply(IndexReply):
    fields: FieldsReply
    facets: list[FacetReply] = Field(description="Of documents the caller may read, the most used first")


class IndexesReply(ReplyModel):
    indexes: list[IndexReply]


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


class BriefPhrase(ReplyModel):
    phrase: str
    display: str
    kind: Literal["shared", "implied", "distinct"]
    score: float | None = None


class Hrefs(ReplyModel):
    common: str | None = None
    distinct: str | None = None


class WhyReply(ReplyModel):
    state: Literal["done", "pending", "unavailable", "not-indexed", "changed"] = Field(
        description="unavailable: reasons cannot be had now; "
        "not-indexed and changed: the source of an attached index has another document than was attached"
    )
    code: str | None = Field(default=None, description="Of the error, where reasons are unavailable")
    detail: str | None = Field(default=None, description="Why there are no reasons")
    provisional: bool | None = Field(default=None, description="By containment alone, until the comparison is done")
    common: list[BriefPhrase] | None = Field(default=None, description="Shared with the query")
    distinct: list[BriefPhrase] | None = Field(default=None, description="Sets it apart from the rest of the page")
    matched: list[str] = Field(description="Clauses of the query that matched, a match with its words that did")
    href: Hrefs | None = None


class SearchHit(BaseModel):
    model_config = ConfigDict(extra="allow")
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


class HealthReply(ReplyModel):
    status: Literal["ok", "unavailable"]
    checks: dict[str, str] | None = None
