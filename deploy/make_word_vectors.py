"""Make the table of word vectors that ships with the package (docs/word_vectors.md).

    python deploy/make_word_vectors.py [--wordnet FOLDER] [--scowl FOLDER] [--to FOLDER]

The sentence encoder reads each word alone and in a short text. The mean of frequent words is taken away, the leading
principal components are kept and stored with 4 bits. The words come from the encoder's own vocabulary and from the
Debian packages wordnet-base and scowl. Takes some minutes.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indexer.errors import BadInput, PhraseComError
from indexer.model.word_vectors import PROVENANCE_FILE, TABLE_FOLDER, WordVectors, quantize_vectors
from indexer.text.lemmatizer import Lemmatizer
from worker.evaluation.sentence_encoder import SentenceEncoder, model_jar

DIMENSIONS = 128
STEP = 0.335
"""Distance of two levels in standard deviations: with 16 levels, it has the least error for a normal distribution."""
WHITENING = 0.25
"""Components are divided by their variance to this power; 0 keeps their sizes, 0.5 would make them equal."""
TEMPLATES = ("{}", "a text about {}")
"""Texts that a word is read in; its vector is the mean of theirs."""
SCOWL_SIZE, WORDNET_SIZE = 60, 70
"""Largest SCOWL size of a word that only SCOWL has, and of one that WordNet has too: larger ones are rare words."""
SCOWL_FILES = re.compile(r"(?:english|american|british|special)-.+\.(\d+)")
MIN_LETTERS, MAX_LETTERS = 2, 18
CHUNK = 500
"""Words that are encoded as one task."""

Vectors = NDArray[np.float32]


def list_wordpieces(encoder: SentenceEncoder) -> set[str]:
    """Return the whole words of the encoder's vocabulary, with digits but no numbers."""
    return {word for word in encoder.tokenizer.get_vocab() if re.fullmatch(r"[a-z0-9]*[a-z][a-z0-9]*", word)}


def read_wordnet_lemmas(folder: Path) -> set[str]:
    """Return the lemmas of WordNet that are one word of letters."""
    lemmas: set[str] = set()
    for part in ("noun", "verb", "adj", "adv"):
        path = folder / f"index.{part}"
        if not path.is_file():
            raise BadInput(f"{path} does not exist", fix="run: apt-get install wordnet-base")
        lemmas.update(re.findall(r"^([a-z]+) ", path.read_text(encoding="ascii"), flags=re.MULTILINE))
    return lemmas


def read_scowl_sizes(folder: Path) -> dict[str, int]:
    """Return the words of SCOWL in lower case -> the size of the smallest list that has them: 10 common, 95 obscure."""
    sizes: dict[str, int] = {}
    for path in sorted(folder.glob("*")):
        if match := SCOWL_FILES.fullmatch(path.name):
            for word in path.read_text(encoding="latin-1").lower().split():
                sizes[word] = min(sizes.get(word, 100), int(match[1]))
    if not sizes:
        raise BadInput(f"{folder} has no word lists", fix="run: apt-get install scowl")
    return {word: size for word, size in sizes.items() if re.fullmatch("[a-z]+", word)}


def choose_words(pieces: set[str], lemmas: set[str], sizes: dict[str, int], lemmatizer: Lemmatizer) -> list[str]:
    """Return the words to encode, ascending.

    Of SCOWL, which lists inflected forms too, only lemmas are taken: the product looks up nothing else.
    """
    common = {word for word, size in sizes.items() if size <= SCOWL_SIZE and lemmatizer[word] == word}
    known = {word for word in lemmas if sizes.get(word, 100) <= WORDNET_SIZE}
    return sorted(word for word in pieces | common | known if MIN_LETTERS <= len(word) <= MAX_LETTERS)


def encode_words(encoder: SentenceEncoder, words: Sequence[str]) -> Vectors:
    """Return vectors of words of length 1, shape (words, 384): the mean over the templates."""
    chunks = [words[start : start + CHUNK] for start in range(0, len(words), CHUNK)]

    def encode_chunk(chunk: Sequence[str]) -> Vectors:
        return normalise(np.mean([encoder.encode(map(text.format, chunk)) for text in TEMPLATES], axis=0))

    with ThreadPoolExecutor(os.cpu_count()) as pool:  # the encoder works outside Python's lock
        return np.concatenate(list(report_progress(pool.map(encode_chunk, chunks), len(chunks))))


def report_progress(results: Iterable[Vectors], count: int) -> Iterator[Vectors]:
    for number, result in enumerate(results, start=1):
        print(f"\rencoding words: {100 * number // count} %", end="", file=sys.stderr, flush=True)
        yield result
    print(file=sys.stderr)


def normalise(vectors: NDArray[Any]) -> Vectors:
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), dtype=np.float32)


def merge_forms(
    words: Sequence[str], vectors: Vectors, forms: Iterable[str], lemmatizer: Lemmatizer
) -> tuple[list[str], Vectors]:
    """Let the vector of a lemma stand for its frequent forms, too, and add lemmas that are no word (``mixe``).

    Returns the words, ascending, and their vectors: of a lemma with other forms, the mean of its own and theirs.
    """
    row_of = {word: row for row, word in enumerate(words)}
    forms_of: dict[str, list[int]] = defaultdict(list)
    for form in sorted(set(forms) & row_of.keys()):
        lemma = lemmatizer[form]
        if lemma != form and MIN_LETTERS <= len(lemma) <= MAX_LETTERS and lemma.isascii() and lemma.isalpha():
            forms_of[lemma].append(row_of[form])
    merged = dict(zip(words, vectors, strict=True))
    for lemma, rows in forms_of.items():
        mean = vectors[rows].mean(axis=0)
        merged[lemma] = mean + merged[lemma] if lemma in merged else mean
    ordered = sorted(merged)
    return ordered, normalise(np.stack([merged[word] for word in ordered]))


def reduce_dimensions(vectors: Vectors, is_frequent: NDArray[np.bool_]) -> Vectors:
    """Return the leading principal components of frequent words for all words, partly whitened.

    Shape (words, 384) -> (words, ``DIMENSIONS``); the mean squared length is 1.
    """
    centred = vectors.astype(np.float64) - vectors[is_frequent].mean(axis=0, dtype=np.float64)
    frequent = centred[is_frequent]
    variances, axes = np.linalg.eigh(frequent.T @ frequent / len(frequent))
    variances, axes = variances[::-1][:DIMENSIONS], axes[:, ::-1][:, :DIMENSIONS]
    axes = axes * np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(DIMENSIONS)])  # eigenvectors have no sign
    reduced = centred @ axes / variances**WHITENING
    return np.asarray(reduced / np.sqrt((reduced**2).sum(axis=1).mean()), dtype=np.float32)


def describe_sources(table: WordVectors) -> dict[str, Any]:
    """Return the provenance that is stored with the table."""
    return {
        "model": {
            "name": "sentence-transformers/all-MiniLM-L6-v2, 8-bit ONNX",
            "artifact": f"{model_jar.GROUP}:{model_jar.ARTIFACT}:{model_jar.VERSION}",
            "sha256": model_jar.SHA256,
            "licence": "Apache-2.0",
        },
        "vocabulary": [
            {"name": "WordPiece vocabulary of the model", "licence": "Apache-2.0"},
            {"name": "WordNet 3.0", "package": "wordnet-base", "licence": "WordNet 3.0 licence, in NOTICE"},
            {"name": "SCOWL 2020.12.07", "package": "scowl", "licence": "SCOWL licences, in NOTICE"},
        ],
        "templates": list(TEMPLATES),
        "words": len(table),
        "dimensions": table.dimensions,
        "bits": 4,
    }


def make_table(wordnet: Path, scowl: Path) -> WordVectors:
    """Make the table from the encoder and the word lists."""
    lemmas, sizes = read_wordnet_lemmas(wordnet), read_scowl_sizes(scowl)
    encoder, lemmatizer = SentenceEncoder.load(), Lemmatizer("en")
    pieces = list_wordpieces(encoder)
    words = choose_words(pieces, lemmas, sizes, lemmatizer)
    words, vectors = merge_forms(words, encode_words(encoder, words), pieces, lemmatizer)
    reduced = reduce_dimensions(vectors, np.array([word in pieces for word in words]))
    return quantize_vectors(np.array(words, dtype=f"S{MAX_LETTERS + 1}"), reduced, STEP)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--wordnet", type=Path, default="/usr/share/wordnet", help="index files of WordNet")
    parser.add_argument("--scowl", type=Path, default="/usr/share/dict/scowl", help="word lists of SCOWL")
    parser.add_argument("--to", type=Path, default=TABLE_FOLDER, help="folder to write to")
    options = parser.parse_args()
    try:
        table = make_table(options.wordnet, options.scowl)
    except PhraseComError as error:
        print(f"make_word_vectors: {error}", file=sys.stderr)
        return 1
    options.to.mkdir(parents=True, exist_ok=True)
    table.save(options.to)
    (options.to / PROVENANCE_FILE).write_text(json.dumps(describe_sources(table), indent=2) + "\n")
    print(f"{len(table)} words, {table.dimensions} dimensions")
    return 0


if __name__ == "__main__":
    sys.exit(main())
