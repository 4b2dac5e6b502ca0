"""What is counted. One registry a process; with several processes their counts are added up.

What is looked up when somebody asks stands in ``state``.
"""

from __future__ import annotations

from prometheus_client import Counter, Gauge, Histogram

from worker.jobs.statistics import BUCKETS

ANSWERS = Counter("phrasecom_answers", "Answers sent, by where they came from", ["source"])
REQUESTS = Counter("phrasecom_requests", "Requests answered", ["endpoint", "status"])
SECONDS = Histogram(
    "phrasecom_request_seconds",
    "How long requests took",
    ["endpoint"],
    buckets=(0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10),
)
WAITING = Gauge("phrasecom_waiting_requests", "Requests waiting for a job", multiprocess_mode="livesum")
ELASTICSEARCH = Histogram(
    "phrasecom_elasticsearch_seconds",
    "How long the web server's own requests to Elasticsearch took",
    buckets=BUCKETS,
)
