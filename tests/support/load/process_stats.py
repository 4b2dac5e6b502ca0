"""Memory of the service's processes while it works, and the state of its queue."""

from __future__ import annotations

import time

import psutil
from prometheus_client.parser import text_string_to_metric_families

from tests.support.faults.deployment import House, Process
from tests.support.faults.foreign_load import Beside

_EVERY = 2.0


class Memory(Beside):
    """Samples what the web server and the workers hold, shared pages divided among those who share them."""

    def __init__(self, house: House) -> None:
        super().__init__()
        self._rooms: dict[str, list[Process]] = {"web": [house.web], "workers": house.workers.all}
        self.samples: dict[str, list[int]] = {name: [] for name in self._rooms}

    def _loop(self) -> None:
        while not self._over.wait(_EVERY):
            for name, processes in self._rooms.items():
                self.samples[name].append(sum(_held(process) for process in processes))

    def growth(self) -> float:
        """From the middle, when caches have filled, to the end; of both rooms together. 0 if it was too short."""
        both = [sum(pair) for pair in zip(*self.samples.values(), strict=False)]
        tenth, middle = len(both) // 10, len(both) // 2
        if not tenth:
            return 0.0
        return sum(both[-tenth:]) / sum(both[middle : middle + tenth]) - 1

    def megabytes(self) -> dict[str, float]:
        return {name: round(values[-1] / 2**20, 1) for name, values in self.samples.items() if values}


def _held(process: Process) -> int:
    total = 0
    for one in process.family():
        try:
            total += one.memory_full_info().pss
        except psutil.Error:
            continue
    return total


def measured(house: House, name: str, **labels: str) -> float:
    """The sum of a metric's samples that have these labels."""
    with house.client() as client:
        text = client.request("GET", "/metrics").body.decode()
    return sum(
        sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if sample.name == name and labels.items() <= sample.labels.items()
    )


def seconds_until_idle(house: House, patience: float = 300.0) -> float:
    """How long until no job is open; raises when that never comes."""
    began = time.monotonic()
    while measured(house, "phrasecom_jobs"):
        if time.monotonic() - began > patience:
            raise TimeoutError("jobs are still open")
        time.sleep(0.2)
    return time.monotonic() - began
