"""What requests look like: strict types, nothing unknown; the OpenAPI description is made of these."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal, TypeVar

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    StringConstraints,
    ValidationError,
    model_validator,
)
from pydantic_core import CoreSchema

from webapi.http.problems import Invalid

INDEX_NAME = r"^[a-z0-9][a-z0-9_-]{0,99}$"
IndexName = Annotated[str, StringConstraints(pattern=INDEX_NAME)]
DocumentId = Annotated[str, StringConstraints(min_length=1, max_length=512)]
Words = Annotated[str, StringConstraints(min_length=1)]


class Strict(BaseModel):
    """Right types only, nothing unknown, and nothing null: what is not wanted is left out."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)
    may_be_null: ClassVar[frozenset[str]] = frozenset()

    @model_validator(mode="before")
    @classmethod
    def _no_null(cls, value: Any) -> Any:
        if isinstance(value, dict):
            for name, one in value.items():
                if one is None and name not in cls.may_be_null:
                    raise ValueError(f"{name} is null; leave it out")
        return value

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        schema = handler.resolve_ref_schema(handler(core))
        for name, one in schema["properties"].items():
            if name not in cls.may_be_null and "anyOf" in one and {"type": "null"} in one["anyOf"]:
                kinds = [kind for kind in one.pop("anyOf") if kind != {"type": "null"}]
                one |= kinds[0] if len(kinds) == 1 else {"anyOf": kinds}
                one.pop("default", None)
        return schema


class SideBody(Strict):
    """One side of a comparison: exactly one of these."""

    id: DocumentId | None = Field(default=None, description="A document")
    ids: list[DocumentId] | None = Field(default=None, min_length=1, description="A set of documents")
    search: Words | None = Field(
        default=None,
        description="Documents by words and filters: `quake source:BBC date:2011-03-11..2011-03-14`",
    )
    query: Words | None = Field(default=None, description="The query itself")
    text: Words | None = Field(default=None, description="A text that is not in the index")

    @model_validator(mode="after")
    def _one(self) -> SideBody:
        if len(self.model_fields_set) != 1:
            raise ValueError("give exactly one of id, ids, search, query, text")
        return self

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return super().__get_pydantic_json_schema__(core, handler) | {"minProperties": 1, "maxProperties": 1}

    def as_json(self) -> dict[str, Any]:
        return self.model_dump(exclude_unset=True)


Method = Literal[
    "word_match",
    "topic_label",
    "patent_com",
    "string_fuzzy",
    "context_fuzzy",
    "cda_no_graph",
    "cda_alter_mea",
    "cda_two_step",
    "cda",
    "containment",
]
Preset = Literal["default", "paper"]
Number = Annotated[float, Field(strict=False, allow_inf_nan=False)]


class Options(Strict):
    """Parameters of a comparison; what is left out has the preset's value."""

    cap: int | None = Field(default=None, ge=0, le=1000, description="Phrases in each list; 0 for all")
    candidates: bool | None = Field(default=None, description="Add both salient sets")
    graph: bool | None = Field(default=None, description="Add the neighbourhood")
    neighbours: int | None = Field(default=None, ge=1, le=10_000, description="Documents of the neighbourhood")
    k: int | None = Field(default=None, ge=1, le=500)
    alpha: Number | None = Field(default=None, ge=0, le=1e6)
    lambda_: Number | None = Field(default=None, ge=0, le=1e6, alias="lambda")
    delta: Number | None = Field(default=None, ge=0, le=1e6)
    gamma: Number | None = Field(default=None, gt=0, le=1e6)
    kappa: Number | None = Field(default=None, gt=0, le=1e6)
    cut: Number | None = Field(default=None, ge=0, le=100, description="What an implied phrase must reach")
    word_weight: Number | None = Field(default=None, ge=0, le=100, description="Worth of being worded differently")
    topic_weight: Number | None = Field(default=None, ge=0, le=100, description="Worth of the same topics")
    base_weight: Number | None = Field(default=None, ge=0, le=100, description="Worth of being held by many documents")

    def as_json(self) -> dict[str, Any]:
        return self.model_dump(exclude_none=True, by_alias=True)


class ComparisonBody(Strict):
    index: IndexName
    a: SideBody
    b: SideBody
    method: Method = "cda"
    preset: Preset = "default"
    options: Options = Options()


class ExplanationBody(Strict):
    """A results page: what was asked, what came, and what each hit is to be compared with."""

    index: IndexName
    hits: list[DocumentId] = Field(min_length=1, description="In the order of the page")
    query: Words | None = Field(default=None, description="The query of the page")
    document: DocumentId | None = Field(default=None, description="The document the page was found for")
    against: Literal["query", "page", "document", "above"] | None = Field(
        default=None, description="Each hit against the query, the rest of the page, the document, or the hit above it"
    )

    unknown: Literal["refuse", "skip"] = Field(
        default="refuse", description="What to do about hits the index does not have: answer 404, or leave them out"
    )

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """What a page is compared against must be given."""
        others = {"properties": {"against": {"enum": ["page", "above"]}}, "required": ["against"]}
        query = {"required": ["query"], "properties": {"against": {"enum": ["query", "page", "above"]}}}
        document = {"required": ["document"], "properties": {"against": {"enum": ["document", "page", "above"]}}}
        return super().__get_pydantic_json_schema__(core, handler) | {"anyOf": [others, query, document]}


class DocumentBody(Strict):
    may_be_null = frozenset({"date", "url"})

    id: DocumentId
    title: str = ""
    text: str = ""
    date: str | None = Field(default=None, pattern=r"^\d{4}-\d{2}-\d{2}([T ].*)?$", description="ISO 8601")
    url: str | None = None
    facets: dict[str, list[str]] = Field(default_factory=dict)
    acl: list[str] = Field(default_factory=list, description="Groups that may read it; none: everybody")
    extra: dict[str, Any] = Field(default_factory=dict)


class DocumentsBody(Strict):
    documents: list[DocumentBody] = Field(min_length=1, max_length=10_000)


class SearchBody(Strict):
    """A subset of the Elasticsearch search body; ``search_schema`` describes its larger parts."""

    query: dict[str, Any] = Field(default={"match_all": {}})
    from_: int = Field(default=0, ge=0, le=10_000, alias="from")
    size: int = Field(default=10, ge=0, le=100)
    sort: Any = None
    highlight: dict[str, Any] | None = None
    aggs: dict[str, Any] = Field(default_factory=dict)
    aggregations: dict[str, Any] = Field(default_factory=dict)
    source: bool | list[str] | str = Field(default=True, alias="_source")
    track_total_hits: bool | Annotated[int, Field(ge=0, le=2**31 - 1)] = True
    why: bool = Field(default=True, description="Whether each hit carries its reasons")


class Said(Strict):
    phrase: Words
    useful: bool
    list: Literal["common", "distinct_a", "distinct_b"] | None = None


class FeedbackBody(Strict):
    phrases: list[Said] = Field(min_length=1, max_length=1000)


M = TypeVar("M", bound=BaseModel)


def parsed(model: type[M], body: bytes) -> M:
    """The request as the model has it; Invalid lists what does not fit."""
    try:
        return model.model_validate_json(body)
    except ValidationError as error:
        raise Invalid([_misfit(dict(one)) for one in error.errors(include_url=False, include_input=False)]) from None


def _misfit(one: dict[str, Any]) -> dict[str, str]:
    at = "/".join(str(part) for part in one["loc"])
    known = {"extra_forbidden": "not known here; /docs lists what is", "too_short": "one at least is needed"}
    detail = known.get(str(one["type"])) or str(one["msg"]).removeprefix("Value error, ")
    return {"at": f"/{at}" if at else "", "detail": detail}
