"""Memory and metrics of a running deployment."""

from __future__ import annotations

import time

import psutil
from prometheus_client.parser import text_string_to_metric_families

from tests.support.background_thread import BackgroundThread
from tests.support.deployment import Deployment, RestartableProcess

_SAMPLE_SECONDS = 2.0


class MemorySampler(BackgroundThread):
    """Samples the memory of the web server and the workers (PSS: a shared page counts in proportion)."""

    def __init__(self, deployment: Deployment) -> None:
        super().__init__()
        self._processes: dict[str, list[RestartableProcess]] = {
            "web": [deployment.web],
            "workers": deployment.workers.processes,
        }
        self.samples: dict[str, list[int]] = {name: [] for name in self._processes}

    def _run(self) -> None:
        while not self._stopping.wait(_SAMPLE_SECONDS):
            for name, processes in self._processes.items():
                self.samples[name].append(sum(_measure_memory(process) for process in processes))

    def compute_growth(self) -> float:
        """Return the relative growth from the middle of the run, when caches are full; 0 for a short run."""
        both = [sum(pair) for pair in zip(*self.samples.values(), strict=False)]
        tenth, middle = len(both) // 10, len(both) // 2
        if not tenth:
            return 0.0
        return sum(both[-tenth:]) / sum(both[middle : middle + tenth]) - 1

    def last_megabytes(self) -> dict[str, float]:
        return {name: round(values[-1] / 2**20, 1) for name, values in self.samples.items() if values}


def _measure_memory(process: RestartableProcess) -> int:
    total = 0
    for member in process.list_processes():
        try:
            total += member.memory_full_info().pss
        except psutil.Error:
            continue
    return total


def read_metric(deployment: Deployment, name: str, **labels: str) -> float:
    """Return the sum of a metric's samples that have these labels."""
    with deployment.make_client() as client:
        text = client.request("GET", "/metrics").body.decode()
    return sum(
        sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if sample.name == name and labels.items() <= sample.labels.items()
    )


def wait_until_idle(deployment: Deployment, timeout_seconds: float = 300.0) -> float:
    """Wait until no job is open and return the seconds that took; raise TimeoutError if jobs stay open."""
    started = time.monotonic()
    while read_metric(deployment, "phrasecom_jobs"):
        if time.monotonic() - started > timeout_seconds:
            raise TimeoutError("jobs are still open")
        time.sleep(0.2)
    return time.monotonic() - started
