"""Kills workers in the middle of a job."""

from __future__ import annotations

import os
import random
import signal
import time
from dataclasses import dataclass
from typing import Literal, cast

import psutil

from tests.support.deployment import Deployment
from worker.jobs.redis_store import RedisJobStore

KillTarget = Literal["process", "machine", "parent"]
"""The process that computes, that process and its parent, or the parent alone (the job continues without it)."""


@dataclass(frozen=True)
class Kill:
    job: str
    target: KillTarget
    killed_at: float
    """Time by the monotonic clock."""


class WorkerKiller:
    """Picks running jobs at random and kills the process that runs each."""

    def __init__(self, deployment: Deployment, seed: int = 1) -> None:
        self._store: RedisJobStore = deployment.open_job_store()
        self._random = random.Random(seed)
        self.kills: list[Kill] = []

    def kill_one(self, target: KillTarget) -> bool:
        """Kill the worker of a random running job and return True, or False if no job runs.

        The process is stopped first, so that the job is certainly running when it is killed.
        """
        for job in self._list_running_jobs():
            pid, token = find_job_owner(self._store, job)
            if pid and self._kill_if_running(target, job, pid, token):
                self.kills.append(Kill(job, target, time.monotonic()))
                return True
        return False

    def _list_running_jobs(self) -> list[str]:
        ids = [id.decode() for id in cast("list[bytes]", self._store.client.zrange(self._store.prefix + "due", 0, -1))]
        running = [id for id in ids if find_job_owner(self._store, id)[0]]
        self._random.shuffle(running)
        return running

    def _kill_if_running(self, what: KillTarget, job: str, pid: int, token: bytes) -> bool:
        try:
            parent = psutil.Process(pid).ppid()
            os.kill(pid, signal.SIGSTOP)
        except (ProcessLookupError, psutil.NoSuchProcess):
            return False  # killed before; the job waits until its lease runs out
        if find_job_owner(self._store, job) != (pid, token):
            os.kill(pid, signal.SIGCONT)
            return False
        if what in ("machine", "parent") and parent > 1:
            os.kill(parent, signal.SIGKILL)
        os.kill(pid, signal.SIGCONT if what == "parent" else signal.SIGKILL)
        return True

    def close(self) -> None:
        self._store.client.close()


def find_job_owner(store: RedisJobStore, job: str) -> tuple[int, bytes]:
    """Return the id of the process that runs the job (0 if none does) and the token of its lease."""
    name = f"{store.prefix}job:{job}"
    state, owner, token = cast("list[bytes]", store.client.hmget(name, ["state", "owner", "token"]))
    return (int(owner.split(b":")[1]), token) if state == b"running" else (0, b"")
