"""Request bodies: strict types and no unknown names. The OpenAPI description is built from these models, so their names
and docstrings are part of it; methods, presets, ranges and names are those that ``worker`` and ``indexer`` define."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    RootModel,
    StringConstraints,
    ValidationError,
    model_validator,
)
from pydantic_core import CoreSchema

from indexer.identifiers import INDEX_NAME_PATTERN, MAX_ID_BYTES, is_document_id
from indexer.records import MAX_TITLE_BYTES
from indexer.vectors import MAX_DIMENSIONS, encode_vector
from webapi.http.problems import InvalidRequest
from webapi.search.body import MAX_HITS, MAX_INTEGER, MAX_OFFSET
from worker.explain.spec import OPTION_RANGES
from worker.methods.registry import METHODS
from worker.solver.parameters import PRESETS

MAX_SUGGESTIONS = 50
INDEX_NAME_REGEX = rf"^{INDEX_NAME_PATTERN}$"


def _check_id(id: str) -> str:
    if not is_document_id(id):
        raise ValueError(f"an id has 1 to {MAX_ID_BYTES} bytes of UTF-8")
    return id


IndexName = Annotated[str, StringConstraints(pattern=INDEX_NAME_REGEX)]
DocumentId = Annotated[str, StringConstraints(min_length=1, max_length=MAX_ID_BYTES), AfterValidator(_check_id)]
"""The limit is in bytes, which a JSON schema cannot say; the length in characters that it does say follows from it."""
NonEmptyText = Annotated[str, StringConstraints(min_length=1)]


def _check_vector(value: object) -> object:
    encode_vector(value)  # raises a ValueError, one for all its numbers
    return value


Vector = Annotated[list[float], Field(min_length=1, max_length=MAX_DIMENSIONS), BeforeValidator(_check_vector)]


class StrictModel(BaseModel):
    """Base of request models: exact types, no unknown names, and no nulls; an absent value is left out."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)
    may_be_null: ClassVar[frozenset[str]] = frozenset()

    @model_validator(mode="before")
    @classmethod
    def _reject_nulls(cls, value: Any) -> Any:
        if isinstance(value, dict):
            for name, content in value.items():
                if content is None and name not in cls.may_be_null:
                    raise ValueError(f"{name} is null; leave it out")
        return value

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """Leave null out of the schemas of optional fields, as it is rejected."""
        schema = handler.resolve_ref_schema(handler(core))
        for name, field in schema["properties"].items():
            if name not in cls.may_be_null and "anyOf" in field and {"type": "null"} in field["anyOf"]:
                kinds = [kind for kind in field.pop("anyOf") if kind != {"type": "null"}]
                field |= kinds[0] if len(kinds) == 1 else {"anyOf": kinds}
                field.pop("default", None)
        return schema


class SideBody(StrictModel):
    """One side of a comparison; exactly one field must be set, besides the vector of a query or a text."""

    id: DocumentId | None = Field(default=None, description="Id of a document")
    ids: list[DocumentId] | None = Field(default=None, min_length=1, description="Ids of a set of documents")
    search: NonEmptyText | None = Field(
        default=None,
        description="All documents that match words and filters, e.g. `quake source:BBC date:2011-03-11..2011-03-14`",
    )
    query: NonEmptyText | None = Field(default=None, description="A query, compared as a text")
    text: NonEmptyText | None = Field(default=None, description="A text that is not in the index")
    vector: Vector | None = Field(
        default=None,
        description="Vector of the query or the text, by the model that made the vectors of the index; alone it is a "
        "query without words",
    )

    @model_validator(mode="after")
    def _check_one_form(self) -> SideBody:
        forms = self.model_fields_set - {"vector"}
        if self.vector is not None and not forms <= {"query", "text"}:
            raise ValueError("give a vector with a query or a text only; documents have their own")
        if len(forms) != 1 and (forms or self.vector is None):
            raise ValueError("give exactly one of id, ids, search, query, text")
        return self

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        with_vector = [{"required": [form, "vector"], "maxProperties": 2} for form in ("query", "text")]
        schema = super().__get_pydantic_json_schema__(core, handler)
        return schema | {"minProperties": 1, "anyOf": [{"maxProperties": 1}, *with_vector]}

    def to_json(self) -> dict[str, Any]:
        """Return the side as a job's payload has it."""
        return self.model_dump(exclude_unset=True)


if TYPE_CHECKING:  # a type checker accepts no computed Literal
    Method = str
    Preset = str
else:
    Method = Literal[tuple(METHODS)]
    Preset = Literal[tuple(PRESETS)]
Number = Annotated[float, Field(strict=False, allow_inf_nan=False)]


def _make_option(name: str, description: str | None = None) -> Any:
    """Return the field of a numeric option, with the range that the worker accepts."""
    minimum, maximum = OPTION_RANGES[name]
    return Field(default=None, ge=minimum, le=maximum, alias=name, description=description)


class Options(StrictModel):
    """Parameters of a comparison; the preset provides the defaults."""

    cap: int | None = _make_option("cap", "Maximum phrases in each list; 0 for all")
    candidates: bool | None = Field(default=None, description="Add the salient phrases of both sides")
    graph: bool | None = Field(default=None, description="Add the neighbourhood graph")
    neighbours: int | None = _make_option("neighbours", "Documents in the neighbourhood")
    k: int | None = _make_option("k")
    alpha: Number | None = _make_option("alpha")
    lambda_: Number | None = _make_option("lambda")
    delta: Number | None = _make_option("delta")
    gamma: Number | None = _make_option("gamma")
    kappa: Number | None = _make_option("kappa")
    cut: Number | None = _make_option(
        "cut", "Evidence an implied phrase needs; the threshold grows with the size of the corpus"
    )
    word_weight: Number | None = _make_option(
        "word_weight", "Weight of the share of the phrase that the other side contains in some form"
    )
    topic_weight: Number | None = _make_option("topic_weight", "Weight of topic similarity")
    base_weight: Number | None = _make_option("base_weight", "Weight of the document frequency of the phrase")

    def to_json(self) -> dict[str, Any]:
        """Return the options that are set, by their names on the wire."""
        return self.model_dump(exclude_none=True, by_alias=True)


class ComparisonBody(StrictModel):
    index: IndexName
    a: SideBody
    b: SideBody
    method: Method = "cda"
    preset: Preset = "default"
    options: Options = Options()


class ExplanationBody(StrictModel):
    """A results page: its query or document, its hits, and what each hit is compared with."""

    index: IndexName
    hits: list[DocumentId] = Field(min_length=1, description="Ids of the hits, in the order of the page")
    query: NonEmptyText | None = Field(default=None, description="The query of the page")
    vector: Vector | None = Field(
        default=None,
        description="Vector of the query, by the model that made the vectors of the index; without a query, hits are "
        "explained by it alone",
    )
    document: DocumentId | None = Field(default=None, description="The document whose related documents the page lists")
    against: Literal["query", "page", "document", "above"] | None = Field(
        default=None,
        description="What to compare each hit with: the query, the rest of the page, the document, or the hit above it",
    )

    unknown: Literal["refuse", "skip"] = Field(
        default="refuse",
        description="How to handle hits that are not in the index: refuse the request with 404, or skip them",
    )

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """Require what the page is compared against."""
        others = {"properties": {"against": {"enum": ["page", "above"]}}, "required": ["against"]}
        queries = [
            {"required": [name], "properties": {"against": {"enum": ["query", "page", "above"]}}}
            for name in ("query", "vector")
        ]
        document = {"required": ["document"], "properties": {"against": {"enum": ["document", "page", "above"]}}}
        return super().__get_pydantic_json_schema__(core, handler) | {"anyOf": [others, *queries, document]}


class DocumentBody(StrictModel):
    may_be_null = frozenset({"date", "url", "vector"})

    # ``indexer.records.check_document`` has the rules that a schema cannot express.
    id: DocumentId = Field(description="Without control characters and line breaks")
    title: str = Field(default="", description=f"At most {MAX_TITLE_BYTES:,} bytes of UTF-8")
    text: str = ""
    date: str | None = Field(default=None, pattern=r"^\d{4}-\d{2}-\d{2}([T ].*)?$", description="ISO 8601")
    url: str | None = None
    facets: dict[str, list[str]] = Field(default_factory=dict)
    acl: list[str] = Field(
        default_factory=list, description="Groups that may read the document; if empty, every caller may"
    )
    extra: dict[str, Any] = Field(
        default_factory=dict, description="Any JSON, returned unchanged; whole numbers of up to 64 bits"
    )
    vector: Annotated[list[float], Field(min_length=1, max_length=MAX_DIMENSIONS)] | None = Field(
        default=None, description="As many numbers as the vectors of the index have; not returned"
    )


class DocumentsBody(StrictModel):
    documents: list[DocumentBody] = Field(min_length=1, max_length=10_000)


class WhyBody(StrictModel):
    """What hits are explained by; by default, the texts and the vector that the body searches for."""

    # Only describes the body: ``webapi.search.why_options`` parses it.
    model_config = ConfigDict(json_schema_extra={"not": {"required": ["query", "fields"]}})
    query: str | None = Field(default=None, description="These words")
    fields: list[str] | None = Field(default=None, description="Texts that are searched for in these fields")
    vector: Vector | None = Field(
        default=None, description="This vector, by the model that made the vectors of the index"
    )


class SearchBody(StrictModel):
    """A subset of the Elasticsearch search body; an attached index takes any body of a caller who may read
    everything."""

    # Only describes the body: ``webapi.search.body`` parses it.
    query: dict[str, Any] = Field(default={"match_all": {}})
    knn: Any = None
    from_: int = Field(default=0, ge=0, le=MAX_OFFSET, alias="from")
    size: int = Field(default=10, ge=0, le=MAX_HITS)
    sort: Any = None
    highlight: dict[str, Any] | None = None
    aggs: dict[str, Any] = Field(default_factory=dict)
    aggregations: dict[str, Any] = Field(default_factory=dict)
    source: bool | list[str] | str = Field(default=True, alias="_source")
    track_total_hits: bool | Annotated[int, Field(ge=0, le=MAX_INTEGER)] = True
    why: bool | WhyBody = Field(
        default=True, description="Whether to add reasons to each hit, or the words and the vector to explain hits by"
    )


class CountBody(StrictModel):
    query: dict[str, Any] = Field(default={"match_all": {}})


class MgetEntry(StrictModel):
    id: NonEmptyText = Field(alias="_id")


class MgetBody(StrictModel):
    """Documents to get: ``ids``, or ``docs``."""

    # Only describes the body: ``webapi.search.mget`` parses it.
    model_config = ConfigDict(json_schema_extra={"minProperties": 1, "maxProperties": 1})
    ids: list[str] = Field(default_factory=list, max_length=MAX_HITS)
    docs: list[MgetEntry] = Field(default_factory=list, max_length=MAX_HITS)


class SearchHeader(StrictModel):
    """The index of a search in a multi-search.

    For an attached index also ``preference``, ``request_cache``, ``routing``, ``search_type`` and others that
    Elasticsearch has there; unknown names are refused.
    """

    # Only describes the header: ``webapi.search.multi_search`` parses it.
    index: IndexName | Annotated[list[IndexName], Field(min_length=1, max_length=1)] | None = Field(
        default=None, description="Needed if the path names no index"
    )


class MultiSearchLines(RootModel[list[SearchHeader | SearchBody]]):
    """Lines of JSON, each with a newline at its end: a header and a body by turns."""

    root: list[SearchHeader | SearchBody] = Field(min_length=2)


class Said(StrictModel):
    phrase: NonEmptyText
    useful: bool
    list: Literal["common", "distinct_a", "distinct_b"] | None = None


class FeedbackBody(StrictModel):
    phrases: list[Said] = Field(min_length=1, max_length=1000)


M = TypeVar("M", bound=BaseModel)


def parse_body(model: type[M], body: bytes) -> M:
    """Parse a JSON body; raise InvalidRequest that lists what does not fit the model."""
    try:
        return model.model_validate_json(body)
    except ValidationError as error:
        errors = error.errors(include_url=False, include_input=False)
        raise InvalidRequest([_describe_validation_error(dict(details)) for details in errors]) from None


def _describe_validation_error(details: dict[str, Any]) -> dict[str, str]:
    path = "/".join(str(part) for part in details["loc"])
    texts = {"extra_forbidden": "unknown field; see /docs", "too_short": "must not be empty"}
    if details["loc"] and details["loc"][-1] == "date":
        texts["string_pattern_mismatch"] = "must be a date; write it as 2011-03-11 or 2011-03-11T09:00:00"
    detail = texts.get(str(details["type"])) or str(details["msg"]).removeprefix("Value error, ")
    return {"at": f"/{path}" if path else "", "detail": detail}
