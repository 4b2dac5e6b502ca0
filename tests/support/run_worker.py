"""A worker process as the tests start it: ``python -m tests.support.run_worker CONFIG [QUEUES [CONCURRENCY]]``."""

from __future__ import annotations

import json
import sys
from typing import Any

from worker.jobs.config import JobLimits, WorkConfig
from worker.process.celery_worker import start_worker


def parse_work_config(text: str) -> WorkConfig:
    """Return the configuration that ``dataclasses.asdict`` made into JSON."""
    values: dict[str, Any] = json.loads(text)
    return WorkConfig(**(values | {"limits": JobLimits(**values["limits"])}))


if __name__ == "__main__":
    queues = sys.argv[2] if len(sys.argv) > 2 else "interactive,bulk"
    concurrency = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    start_worker(parse_work_config(sys.argv[1]), concurrency=concurrency, queues=tuple(queues.split(",")))  # type: ignore[arg-type]
