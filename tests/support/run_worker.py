"""A worker process as the tests start it: ``python -m tests.support.run_worker CONFIG QUEUES``."""

from __future__ import annotations

import json
import sys
from typing import Any

from worker.jobs.config import WorkConfig
from worker.jobs.job import JobLimits
from worker.process.celery_worker import start_worker


def config_from(written: str) -> WorkConfig:
    values: dict[str, Any] = json.loads(written)
    return WorkConfig(**(values | {"limits": JobLimits(**values["limits"])}))


if __name__ == "__main__":
    concurrency = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    start_worker(config_from(sys.argv[1]), concurrency=concurrency, queues=tuple(sys.argv[2].split(",")))  # type: ignore[arg-type]
