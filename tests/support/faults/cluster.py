"""Three Elasticsearch nodes that form a cluster, each of which may be killed and started again."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from deploy.elasticsearch.node import Node, get_assembled_home
from indexer.net import find_free_port
from tests.support.deployment import MAX_WAIT_SECONDS
from tests.support.polling import wait_until

NODE_NAMES = ("n1", "n2", "n3")


class Cluster:
    """The nodes by name, on free ports of this machine."""

    def __init__(self, folder: Path) -> None:
        ports = [find_free_port() for _ in NODE_NAMES]
        settings: dict[str, object] = {
            "discovery.type": None,
            "discovery.seed_hosts": [f"127.0.0.1:{port}" for port in ports],
            "cluster.initial_master_nodes": list(NODE_NAMES),
            "node.processors": 2,
        }
        home = get_assembled_home()
        self.nodes = {
            name: Node(
                name=name, cluster="faults", transport_port=port, settings=settings, work=folder / name, home=home
            )
            for name, port in zip(NODE_NAMES, ports, strict=True)
        }

    @property
    def url(self) -> str:
        return ",".join(node.url for node in self.nodes.values())

    def __enter__(self) -> Self:
        try:
            with ThreadPoolExecutor(len(self.nodes)) as pool:  # a node is up only when it has found the others
                list(pool.map(Node.start, self.nodes.values()))
            self.wait_until_green()
        except BaseException:
            self._kill_nodes()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._kill_nodes()

    def _kill_nodes(self) -> None:
        for node in self.nodes.values():
            node.kill()

    def get_json(self, path: str) -> Any:
        """Return the JSON of the first node that answers, or None."""
        for node in self.nodes.values():
            try:
                with urllib.request.urlopen(node.url + path, timeout=5) as answer:
                    return json.load(answer)
            except (OSError, urllib.error.URLError):
                continue
        return None

    def find_master(self) -> str:
        return str(self.get_json("/_cat/master?format=json")[0]["node"])

    def wait_until_green(self) -> None:
        """Wait until all nodes are in the cluster and every copy of every shard is assigned."""
        wait_until(self._is_green, MAX_WAIT_SECONDS, lambda: str(self.get_json("/_cluster/health")))

    def _is_green(self) -> bool:
        health = self.get_json("/_cluster/health")
        return bool(health and health["number_of_nodes"] == len(NODE_NAMES) and health["status"] == "green")
