"""The settings: environment variables, phrasecom.toml, --help and docs/settings.md are derived from this table.

A value is taken from the first place that has one: an option on the command line, the
environment (``PHRASECOM_`` and the name in capitals), the file ``phrasecom.toml`` (in the current
folder, or where ``PHRASECOM_CONFIG`` points), the default.

Importing this module costs about 0.4 s (pydantic), so commands import it when they need a value.
"""

from __future__ import annotations

import difflib
import os
import tomllib
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal
from urllib.parse import urlsplit

from pydantic import Field, SecretStr, ValidationError, field_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict, TomlConfigSettingsSource

from indexer.defaults import (
    DEFAULT_CAP,
    DEFAULT_K,
    DEFAULT_MAX_DOCUMENT_BYTES,
    DEFAULT_MU,
    DEFAULT_SAMPLE_BYTES,
    DEFAULT_SAMPLE_DOCUMENTS,
)
from indexer.errors import BadSetting

ENVIRONMENT_PREFIX = "PHRASECOM_"
CONFIG_FILE = "phrasecom.toml"
OTHER_VARIABLES = ("PHRASECOM_CONFIG", "PHRASECOM_CACHE", "PHRASECOM_TEST_")
"""Variables with our prefix that are not settings: the path of the file, the cache of downloads, those of the tests."""

Seconds = Annotated[float, Field(gt=0)]
Bytes = Annotated[int, Field(ge=1024)]
Port = Annotated[int, Field(ge=0, le=65535)]


def default_engine_folder() -> str:
    """Return a folder in the user's data directory."""
    base = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return str(Path(base) / "phrasecom")


class Settings(BaseSettings):
    """Every setting with its default; the description is what --help and the docs print."""

    model_config = SettingsConfigDict(
        env_prefix=ENVIRONMENT_PREFIX, extra="forbid", frozen=True, env_ignore_empty=True, allow_inf_nan=False
    )
    config_file: ClassVar[Path | None] = None

    # Where things are
    engine: str = Field(
        default_factory=default_engine_folder,
        description="Location of the indexes: a folder (embedded engine) or Elasticsearch (URL, or URL,URL,...)",
    )
    engine_api_key: SecretStr = Field(
        SecretStr(""), description="API key for Elasticsearch, in the form that its console shows"
    )
    source_api_key: SecretStr = Field(
        SecretStr(""), description="API key for the source of phrasecom attach, if it needs one"
    )
    engine_ca: str = Field("", description="File with the CA certificate of the Elasticsearch cluster")
    engine_timeout_seconds: Seconds = Field(
        25.0, description="Timeout of one request to Elasticsearch; keep it below job_soft_seconds"
    )
    web_engine_seconds: Seconds = Field(
        10.0, description="The same for requests from the web server, which responds with 503 after it"
    )
    index_prefix: str = Field(
        "phrasecom-",
        pattern=r"^[a-z0-9][a-z0-9_-]*$",
        examples=["phrasecom-"],
        description="Name prefix of the Elasticsearch indices that PhraseCom creates",
    )
    shards: int = Field(1, ge=1, le=1024, description="Primary shards of a new Elasticsearch index")
    replicas: int = Field(0, ge=0, le=32, description="Replicas of each shard of a new Elasticsearch index")
    redis_url: SecretStr = Field(
        SecretStr("redis://127.0.0.1:6379/0"),
        examples=["redis://127.0.0.1:6379/0"],
        description="URL of Redis or Valkey, for jobs, answers and the Celery queue",
    )

    # How documents are analysed; fixed for an index once it is built
    language: str = Field(
        "en",
        pattern=r"^[a-z]{2,3}$",
        examples=["en"],
        description="Language of the documents, as a two- or three-letter code",
    )
    min_support: int = Field(
        0, ge=0, description="Minimum number of occurrences of a phrase; 0: 10, or fewer in a small corpus"
    )
    sample_documents: int = Field(
        DEFAULT_SAMPLE_DOCUMENTS,
        ge=0,
        description="Maximum documents that phrases are mined from; those of a larger corpus are mined from a sample, "
        "and counted and found in all documents; 0 for no limit",
    )
    sample_bytes: int = Field(
        DEFAULT_SAMPLE_BYTES,
        ge=0,
        description="The same in bytes of titles and texts, which bounds the memory of a build; 0 for no limit",
    )
    index_processes: int = Field(
        0, ge=0, le=256, description="Processes that mine and analyse documents; 0: one per core"
    )
    k: int = Field(DEFAULT_K, ge=1, le=500, description="Salient phrases kept for each document")
    mu: float = Field(
        DEFAULT_MU,
        ge=0,
        le=100,
        description="Weight of a phrase's own score when salient phrases are selected, relative to its similarity to "
        "phrases already selected; lower values give more diverse phrases",
    )

    # How documents are compared
    method: str = Field("cda", description="Default method of a comparison")
    preset: Literal["default", "paper"] = Field("default", description="Default parameter preset of a comparison")
    neighbours: int = Field(
        0, ge=0, le=10_000, description="Documents in the neighbourhood of a pair; 0: the number in the preset"
    )
    cap: int = Field(
        DEFAULT_CAP,
        ge=0,
        le=1000,
        description="Maximum phrases in each list, which ends earlier where the rest is weak; 0 for all",
    )

    # What the service accepts
    max_body_bytes: Bytes = Field(
        2**20, description="Largest request body; submissions of documents may have max_document_bytes more"
    )
    max_document_bytes: Bytes = Field(DEFAULT_MAX_DOCUMENT_BYTES, description="Largest document that can be indexed")
    max_text_bytes: Bytes = Field(2**18, description="Largest text or query in a comparison")
    max_hits: int = Field(50, ge=1, le=1000, description="Maximum hits explained for one query")
    max_searches: int = Field(100, ge=1, le=10_000, description="Maximum searches in one request to _msearch")
    max_set: int = Field(1000, ge=1, le=100_000, description="Maximum documents in one side of a comparison")
    max_source_ids: int = Field(
        50_000,
        ge=1,
        le=1_000_000,
        description="Limit for searching the source of an attached index: maximum documents that a key with limited "
        "groups may read, as their ids are part of the query",
    )
    allow_source_scripts: bool = Field(
        False,
        description="Whether searches of attached indexes may contain scripts, for callers who may read everything",
    )
    max_waiting: int = Field(
        8, ge=0, le=10_000, description="Requests in one process that may wait for an answer; more get 202 at once"
    )
    max_queue: int = Field(1000, ge=1, description="Queued jobs after which new ones are refused with 429")
    max_jobs_per_caller: int = Field(
        500, ge=0, description="Jobs that one caller may have queued or running; 0 for no limit per caller"
    )
    rate_per_minute: int = Field(0, ge=0, description="Requests per minute for each caller; 0 for no limit")
    limited_rate_per_minute: int = Field(
        300,
        ge=0,
        description="The same for searches and comparisons of each key with limited groups, if lower, so that guessing "
        "what hidden documents contain is slow; 0 for no limit but rate_per_minute",
    )

    worker_memory_bytes: int = Field(
        4 * 2**30, ge=0, description="Memory limit of a worker process; a job that needs more fails; 0 for no limit"
    )

    # How long things take
    wait_seconds: float = Field(1.0, ge=0, le=10, description="Time a request waits for its answer before it gets 202")
    max_wait_seconds: float = Field(10.0, ge=0, le=60, description="Longest wait that a caller may request")
    request_head_seconds: Seconds = Field(
        10.0, description="Time for a client to send the head of a request, which is then refused with 408"
    )
    request_body_seconds: Seconds = Field(
        30.0, description="Time for a client to send the body of a request, which is then refused with 408"
    )
    response_seconds: Seconds = Field(
        30.0, description="Time for a client to read a response, whose connection is then closed"
    )
    job_soft_seconds: Seconds = Field(30.0, description="Soft time limit of a job, which then fails")
    job_hard_seconds: Seconds = Field(60.0, description="Hard time limit of a job, whose process is then killed")
    query_seconds: Seconds = Field(20.0, description="Time limit of one search in Elasticsearch")
    answer_ttl_seconds: Seconds = Field(86_400.0, description="Time for which an answer is cached")
    answers_bytes: Bytes = Field(
        256 * 2**20, description="Total size of cached answers; the least recently read are dropped first"
    )

    # The services
    host: str = Field("127.0.0.1", description="Address the web server listens on")
    port: Port = Field(8080, description="Port the web server listens on; 0 for any free port")
    threads: int = Field(16, ge=1, le=512, description="Threads in each web server process")
    processes: int = Field(1, ge=1, le=128, description="Web server processes")
    concurrency: int = Field(2, ge=1, le=256, description="Worker processes")
    keys_file: str = Field(
        "", description="File with the API keys of the service; without it, the server listens on loopback only"
    )
    allowed_hosts: str = Field(
        "",
        description="Names accepted in the Host header, separated by spaces; without API keys, names of this machine "
        "are always accepted; with API keys, an empty list accepts any name",
    )
    cors_origins: str = Field(
        "",
        description="Origins whose pages may call the API from a browser, separated by spaces; * for all, which needs "
        "keys_file",
    )
    log_format: Literal["auto", "json", "text"] = Field(
        "auto", description="auto: text on a terminal, otherwise one JSON object per line"
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field("info", description="Minimum level of log messages")

    @field_validator("redis_url")
    @classmethod
    def _check_redis_url(cls, url: SecretStr) -> SecretStr:
        parts = urlsplit(url.get_secret_value())
        if "sentinel" in parts.scheme or "cluster" in parts.scheme or "," in parts.netloc or ";" in parts.netloc:
            raise BadSetting(
                "redis_url names a Redis Sentinel, a Redis Cluster or several servers, which are not supported",
                fix="set it to the URL of one primary server, or of a proxy or name that follows it",
            )
        if parts.scheme not in ("redis", "rediss", "unix"):
            raise ValueError("not a Redis URL")
        return url

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        return init_settings, env_settings, TomlConfigSettingsSource(settings_cls, cls.config_file)


def load_settings(**overrides: Any) -> Settings:
    """Load the settings; ``overrides`` that are not None have precedence. Raise BadSetting if one is not valid."""
    overrides = {name: value for name, value in overrides.items() if value is not None}
    _check_environment()
    Settings.config_file = _find_config_file()
    try:
        return Settings(**overrides)
    except ValidationError as error:
        raise _make_bad_setting(error, overrides, Settings.config_file) from None
    except OSError as error:
        raise BadSetting(f"cannot read {Settings.config_file}: {error.strerror}", fix="fix its permissions") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadSetting(
            f"cannot read {Settings.config_file}: {error}", fix="write it as TOML, one name = value per line"
        ) from None


def _find_config_file() -> Path | None:
    variable = os.environ.get(ENVIRONMENT_PREFIX + "CONFIG")
    path = Path(variable or CONFIG_FILE)
    if path.is_file():
        return path
    if variable:
        raise BadSetting(f"PHRASECOM_CONFIG is {variable!r}: no such file", fix="name an existing file or unset it")
    return None


def _check_environment() -> None:
    """Raise BadSetting for a misspelt variable, which would be ignored in silence otherwise."""
    known = {ENVIRONMENT_PREFIX + name.upper() for name in Settings.model_fields}
    for name in sorted(os.environ):
        if name.startswith(ENVIRONMENT_PREFIX) and name not in known and not name.startswith(OTHER_VARIABLES):
            raise BadSetting(f"{name} is not a setting", fix=_suggest_setting(name, known))


def _suggest_setting(name: str, known: set[str]) -> str:
    bare = {full.removeprefix(ENVIRONMENT_PREFIX): full for full in known}
    similar = difflib.get_close_matches(name.removeprefix(ENVIRONMENT_PREFIX), bare, n=1)
    return f"did you mean {bare[similar[0]]}?" if similar else "see docs/settings.md"


def _make_bad_setting(error: ValidationError, overrides: dict[str, Any], config_file: Path | None) -> BadSetting:
    """Return an error that names the setting, where it was set, its value and what is allowed."""
    first = error.errors()[0]
    name = str(first["loc"][0])
    if name not in Settings.model_fields:
        return BadSetting(
            f"{name} in {config_file} is not a setting", fix=_suggest_setting(name, set(Settings.model_fields))
        )
    if name in overrides:
        place = "--" + name.replace("_", "-")
    elif ENVIRONMENT_PREFIX + name.upper() in os.environ:
        place = ENVIRONMENT_PREFIX + name.upper()
    else:
        place = f"{name} in {config_file}"
    is_secret = Settings.model_fields[name].annotation is SecretStr
    shown = "(hidden)" if is_secret else repr(first["input"])
    return BadSetting(f"{place} is {shown}", fix=f"it must be {describe_allowed_values(name)}")


def describe_allowed_values(setting_name: str) -> str:
    """Return in words what a setting may be: ``a whole number, at least 1``."""
    field = Settings.model_fields[setting_name]
    choices = getattr(field.annotation, "__args__", None)
    if choices:
        return "one of " + ", ".join(choices)
    type_names: dict[Any, str] = {
        int: "a whole number",
        float: "a number",
        str: "text",
        SecretStr: "text",
        bool: "true or false",
    }
    has_url_example = any("://" in example for example in field.examples or ())
    words = ["a URL" if has_url_example else type_names[field.annotation]]
    for rule in field.metadata:
        for attribute, phrase in (("ge", "at least"), ("gt", "above"), ("le", "at most")):
            bound = getattr(rule, attribute, None)
            if bound is not None:
                words.append(f"{phrase} {bound:,}".replace(",", " "))
        if getattr(rule, "pattern", None) and not field.examples:
            words.append(f"like {rule.pattern}")
    words += [f"like {example}" for example in field.examples or ()]
    return ", ".join(words)


def describe_setting(name: str) -> str:
    """Return the help line of the option that overrides a setting."""
    return f"{Settings.model_fields[name].description}  [default: {describe_setting_default(name)}]"


def describe_setting_default(setting_name: str) -> str:
    """Return the default of a setting as help and docs show it."""
    if setting_name == "engine":
        return "a folder in the user's data directory"
    default = Settings.model_fields[setting_name].default
    if isinstance(default, SecretStr):
        default = default.get_secret_value()
    return str(default) if default != "" else "none"
