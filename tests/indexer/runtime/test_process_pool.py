"""Work shared between processes: results in order, and no process outlives its owner."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

from indexer.runtime.process_pool import map_in_order

OWNER = """
import os, time
from indexer.runtime.process_pool import map_in_order

def work(part):
    return os.getpid()

for _, process in map_in_order(work, iter(range(1_000_000)), 2):
    print(process, flush=True)
    time.sleep(0.01)
"""


def test_results_come_in_the_order_of_the_parts() -> None:
    def square_slowly(part: int) -> int:
        time.sleep(0.02 * (part % 3 == 0))
        return part * part

    assert list(map_in_order(square_slowly, iter(range(20)), 3)) == [(part, part * part) for part in range(20)]


def test_a_single_part_stays_in_its_process() -> None:
    assert list(map_in_order(lambda part: os.getpid(), iter([7]), 2)) == [(7, os.getpid())]


@pytest.mark.slow
def test_processes_end_when_their_owner_is_killed() -> None:
    with subprocess.Popen([sys.executable, "-c", OWNER], stdout=subprocess.PIPE, text=True) as owner:
        assert owner.stdout
        process_ids: set[str] = set()
        while len(process_ids) < 2:
            process_ids.add(owner.stdout.readline())
        os.kill(owner.pid, signal.SIGKILL)
        owner.communicate(timeout=60)  # ends when every process that may write to the pipe has ended
