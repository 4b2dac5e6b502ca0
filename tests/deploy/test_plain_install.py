"""The wheel in an empty environment, without the lock: the service runs with the newest and the lowest versions of
everything that ``pyproject.toml`` allows."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.support.corpora.small_corpus import generate_documents, write_jsonl
from tests.support.deployment import Deployment
from tests.support.engines import make_prefix
from tests.support.paths import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.server]
OUTSIDE_THE_SOURCES = {"PYTHONPATH": "", "PYTHONSAFEPATH": "1"}
"""Environment in which the modules of the clone cannot be imported."""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    run_pip("wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", str(folder), str(ROOT))
    (built,) = folder.glob("*.whl")
    return built


def run_pip(*arguments: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pip", "--quiet", *arguments], capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]


def list_lower_bounds() -> list[str]:
    """Return every direct dependency at the lowest version it allows, as lines of a constraints file."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    bounds = {}
    for requirement in map(Requirement, project["dependencies"]):
        (bounds[requirement.name],) = (clause.version for clause in requirement.specifier if clause.operator == ">=")
    return [f"{name}=={version}" for name, version in bounds.items()]


def install(wheel: Path, folder: Path, versions: str) -> Path:
    """Install the wheel into an empty environment and return its Python."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True, timeout=60)
    python = folder / "bin" / "python"
    options: list[str] = []
    if versions == "lowest":
        constraints = folder / "lowest.txt"
        constraints.write_text("\n".join(list_lower_bounds()))
        options = ["--constraint", str(constraints)]
    run_pip("--python", str(python), "install", "--no-compile", *options, str(wheel))
    return python


@pytest.mark.parametrize("versions", ["newest", "lowest"])
def test_a_plain_install_serves_comparisons_and_takes_documents(
    wheel: Path, tmp_path: Path, versions: str, elasticsearch_url: str
) -> None:
    python = install(wheel, tmp_path / "venv", versions)
    write_jsonl(tmp_path / "corpus.jsonl", generate_documents(30))
    a, b = (document.id for document in generate_documents(2))
    prefix = make_prefix()
    for engine in (elasticsearch_url, str(tmp_path / "engine")):
        run_phrasecom(python, engine, prefix, "index", str(tmp_path / "corpus.jsonl"))
        assert json.loads(run_phrasecom(python, engine, prefix, "compare", a, b, "--json"))["stats"]["phrases"] > 0
    run_phrasecom(python, elasticsearch_url, prefix, "delete", "--all")
    (tmp_path / "run").mkdir()
    deployment = Deployment(
        tmp_path / "run", engine, python=str(python), make_environment=lambda _: OUTSIDE_THE_SOURCES
    )
    with deployment, deployment.make_client() as client:
        assert client.compare("papers", a, b)["stats"]["phrases"] > 0
        added = client.add_documents("papers", [{"id": "late", "text": "A document that came later."}])
        assert (added["state"], added["written"]) == ("done", 1)
        assert client.get_document("papers", "late")["text"] == "A document that came later."


def run_phrasecom(python: Path, engine: str, prefix: str, *arguments: str) -> str:
    """Run a command of the installation on its index ``papers`` and return what it prints."""
    settings = {"PHRASECOM_ENGINE": engine, "PHRASECOM_INDEX_PREFIX": prefix}
    done = subprocess.run(
        [str(python.with_name("phrasecom")), *arguments, "--index", "papers"],
        cwd=python.parent,
        env=os.environ | OUTSIDE_THE_SOURCES | settings,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
