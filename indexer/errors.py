"""The error tree. Every error a user can meet has a stable code and names its fix.

PhraseComError
├── BadRequest                400
│   ├── BadSide               400  bad-side
│   ├── BadParameter          400  bad-parameter
│   ├── BadInput              400  bad-input
│   ├── UnknownMethod         400  unknown-method
│   └── TooLarge              413  too-large
├── Unauthorized              401  unauthorized
├── Forbidden                 403  forbidden
│   └── UnknownHost           403  unknown-host
├── NotFound                  404
│   ├── UnknownIndex          404  unknown-index
│   ├── UnknownDocument       404  unknown-document
│   └── UnknownJob            404  unknown-job
├── Expired                   410  expired
├── IndexBusy                 409  index-busy          (retryable)
├── EpochChanged              409  epoch-changed       (retryable)
├── BadSetting                500  bad-setting
├── CorruptIndex              500  corrupt-index
├── UnsupportedVersion        500  unsupported-version
├── TooSlow                   504  time-limit
└── Unavailable               503  unavailable         (retryable)
    ├── EngineUnavailable     503  engine-unavailable  (retryable)
    ├── StoreUnavailable      503  store-unavailable   (retryable)
    └── Overloaded            429  overloaded          (retryable)
        └── RateLimited       429  rate-limited        (retryable)
"""

from __future__ import annotations

from difflib import get_close_matches

SIDE_PREFIXES = ("id", "ids", "search", "query", "text", "file")
"""What a side of a comparison may begin with on the shell, before a colon."""


class PhraseComError(Exception):
    """A failure that is reported to the user in one line."""

    code = "internal"
    status = 500
    retryable = False
    public_detail = ""
    """Sent over HTTP instead of the detail if that may name paths or addresses of this machine; else empty."""

    def __init__(self, detail: str, *, fix: str = "") -> None:
        super().__init__(detail)
        self.detail = detail
        self.fix = fix

    def __str__(self) -> str:
        return f"{self.detail}; {self.fix}" if self.fix else self.detail


class BadRequest(PhraseComError):
    code, status = "bad-request", 400


class BadSide(BadRequest):
    code = "bad-side"


class BadParameter(BadRequest):
    code = "bad-parameter"


class BadInput(BadRequest):
    code = "bad-input"


class UnknownMethod(BadRequest):
    code = "unknown-method"


class TooLarge(BadRequest):
    code, status = "too-large", 413


class Unauthorized(PhraseComError):
    code, status = "unauthorized", 401


class Forbidden(PhraseComError):
    code, status = "forbidden", 403


class UnknownHost(Forbidden):
    code = "unknown-host"

    def __init__(self, host: str) -> None:
        super().__init__(f"this server is not {host[:100]!r}", fix="use its own name, or add this one to allowed_hosts")


class NotFound(PhraseComError):
    code, status = "not-found", 404


class UnknownIndex(NotFound):
    code = "unknown-index"

    def __init__(self, index: str) -> None:
        super().__init__(f"no index named {index!r}", fix=f"build it with: phrasecom index PATH --index {index}")
        self.index = index


class UnknownDocument(NotFound):
    code = "unknown-document"

    def __init__(self, index: str, *ids: str) -> None:
        names = ", ".join(repr(i) for i in ids[:3]) + (" ..." if len(ids) > 3 else "")
        fix = f"find ids with: phrasecom search WORDS --index {index}"
        if any(" " in id for id in ids):
            fix = f"write 'query:WORDS' or 'text:WORDS' for words, or {fix}"
        similar = [
            name for id in ids if ":" in id for name in get_close_matches(id.partition(":")[0], SIDE_PREFIXES, n=1)
        ]
        if similar:
            fix = f"did you mean '{similar[0]}:…'? otherwise {fix}"
        super().__init__(f"no document {names} in index {index!r}", fix=fix)


class UnknownJob(NotFound):
    code = "unknown-job"


class Expired(PhraseComError):
    code, status = "expired", 410


class IndexBusy(PhraseComError):
    code, status, retryable = "index-busy", 409, True


class EpochChanged(PhraseComError):
    code, status, retryable = "epoch-changed", 409, True


class BadSetting(PhraseComError):
    code = "bad-setting"
    public_detail = "the service is misconfigured; see its log"


class CorruptIndex(PhraseComError):
    code = "corrupt-index"
    public_detail = "the index is damaged; the operator of the service can rebuild it"


class UnsupportedVersion(PhraseComError):
    code = "unsupported-version"
    public_detail = "the service does not support the version of this index or of the search engine"


class TooSlow(PhraseComError):
    code, status = "time-limit", 504


class Unavailable(PhraseComError):
    code, status, retryable = "unavailable", 503, True


class EngineUnavailable(Unavailable):
    code = "engine-unavailable"
    public_detail = "the search engine does not answer; try again later"


class StoreUnavailable(Unavailable):
    code = "store-unavailable"


class Overloaded(Unavailable):
    code, status = "overloaded", 429


class RateLimited(Overloaded):
    code = "rate-limited"

    def __init__(self, per_minute: int, retry_after_seconds: float) -> None:
        super().__init__(f"more than {per_minute} requests a minute", fix="wait for Retry-After seconds")
        self.retry_after_seconds = retry_after_seconds


def describe_root_cause(error: BaseException) -> str:
    """Return the message of the innermost cause in one line: each layer of a client wraps the error below it."""
    while inner := error.__cause__ or (None if error.__suppress_context__ else error.__context__):
        error = inner
    reason = (error.strerror if isinstance(error, OSError) else None) or str(error) or type(error).__name__
    return reason.partition("\n")[0][:300]
