"""The atomic steps of the Redis job store: the Lua files of ``scripts``, each with the shared prelude before it.

A job is a hash ``job:ID``; its answer is a hash ``answer:ID`` that expires by itself. The sorted set ``due`` holds the
open jobs by the time at which they need attention (a lease that ran out, a message that may be lost); ``used`` and
``sizes`` hold the last use and the bytes of each answer. Times are the server's own, in seconds.
"""

from __future__ import annotations

from importlib.resources import files
from typing import Final


def _read_script(name: str) -> str:
    return (files("worker.jobs") / "scripts" / f"{name}.lua").read_text("utf-8")


_PRELUDE: Final = _read_script("prelude")

SUBMIT: Final = _PRELUDE + _read_script("submit")
GET: Final = _PRELUDE + _read_script("get")
LEAVE: Final = _PRELUDE + _read_script("leave")
PUT_ANSWER: Final = _PRELUDE + _read_script("put_answer")
START: Final = _PRELUDE + _read_script("start")
RENEW: Final = _PRELUDE + _read_script("renew")
PUT_PART: Final = _PRELUDE + _read_script("put_part")
FINISH: Final = _PRELUDE + _read_script("finish")
CLOSE: Final = _PRELUDE + _read_script("close")
REQUEUE: Final = _PRELUDE + _read_script("requeue")
REAP: Final = _PRELUDE + _read_script("reap")
ACQUIRE_LOCK: Final = _read_script("acquire_lock")
STATISTICS: Final = _PRELUDE + _read_script("statistics")
