"""The demo's corpus: prose out of docstrings, by parsing alone."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from indexer.readers import docstrings
from indexer.readers.docstrings import (
    PythonFile,
    extract_docstrings,
    extract_prose,
    list_library_files,
    read_docstrings,
    to_public_name,
)

NUMPY_STYLE = """Fit a model.

The model is fitted with :class:`~some.module.Solver` and ``alpha``.

Parameters
----------
x : array_like, optional
    The data to fit.

References
----------
.. [1] A. Author, "A title".

Examples
--------
>>> fit([1, 2])
3

Like this::

    code = 1

And on it goes [1]_. See `the guide <https://x.example/a>`_.
"""


def test_prose_has_the_sentences_and_nothing_else() -> None:
    words = extract_prose(NUMPY_STYLE).split()
    text = " ".join(words)
    assert "The model is fitted with some.module.Solver and alpha." in text
    assert "The data to fit." in text
    assert "And on it goes . See the guide." in text
    for noise in ("Parameters", "----", "array_like", ">>>", "code = 1", "Author", "https", "`", "::"):
        assert noise not in text


def test_private_modules_on_the_way_are_left_out_of_a_name() -> None:
    assert to_public_name("scipy.stats._kde.gaussian_kde") == "scipy.stats.gaussian_kde"
    assert to_public_name("_thread.lock") == "_thread.lock"


def test_public_definitions_are_found_without_importing_the_file(tmp_path: Path) -> None:
    path = tmp_path / "danger.py"
    path.write_text(
        '"""The module."""\nraise SystemExit\nclass A:\n    """A class."""\n    def m(self):\n        """A method."""\n'
        '    def _hidden(self):\n        """Hidden."""\n'
    )
    found = dict(extract_docstrings(PythonFile(path, "danger", "danger")))
    assert found == {"danger": "The module.", "danger.A": "A class.", "danger.A.m": "A method."}
    path.write_bytes(b"\xff\x00 not python")
    assert list(extract_docstrings(PythonFile(path, "danger", "danger"))) == []


@pytest.mark.slow
def test_reading_imports_nothing_of_what_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = [source for source in list_library_files() if source.package in ("turtle", "smtplib", "heapq")]
    monkeypatch.setattr(docstrings, "list_library_files", lambda: chosen)
    monkeypatch.setattr(docstrings, "list_package_files", lambda distribution: [])
    before = set(sys.modules)
    found = list(read_docstrings())
    assert "turtle" not in set(sys.modules) - before
    assert {document.facets["package"] for document in found} == {("heapq",), ("smtplib",), ("turtle",)}
    assert all(len(document.text.split()) >= docstrings.MIN_WORDS for document in found)
    assert len({document.id for document in found}) == len(found)
    assert len({document.text for document in found}) == len(found)


def test_the_packages_this_project_needs_are_among_the_sources() -> None:
    packages = {source.package for source in docstrings.list_package_files("phrasecom")}
    assert {"numpy", "scikit-learn", "flask"} <= packages
    assert "pytest" not in packages
