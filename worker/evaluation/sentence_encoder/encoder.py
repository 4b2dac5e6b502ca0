"""Vectors of sentences by a small transformer: all-MiniLM-L6-v2, run by onnxruntime on the processor."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from indexer.errors import BadSetting
from worker.evaluation.sentence_encoder.model_jar import read_model_files

if TYPE_CHECKING:
    from onnxruntime import InferenceSession
    from tokenizers import Tokenizer

DIMENSIONS = 384
MAX_TOKENS = 128
"""Tokens of a text that are read: the length that the model was trained with."""


class SentenceEncoder:
    """Turns texts into vectors whose inner product says how close their meanings are."""

    name = "minilm"

    def __init__(self, session: InferenceSession, tokenizer: Tokenizer) -> None:
        tokenizer.no_padding()
        tokenizer.enable_truncation(MAX_TOKENS)
        self.tokenizer = tokenizer
        self._session = session
        self._input_names = frozenset(node.name for node in session.get_inputs())

    @classmethod
    def load(cls, threads: int = 1) -> SentenceEncoder:
        """Load the encoder; the first time, download it into the cache.

        Raises BadSetting if a package is missing, BadInput if the download fails or is not what was expected.
        """
        try:
            from onnxruntime import InferenceSession, SessionOptions
            from tokenizers import Tokenizer
        except ImportError as error:
            fix = "install the packages of development: pip install onnxruntime tokenizers"
            raise BadSetting(f"the package {error.name} is missing", fix=fix) from None
        files = read_model_files()
        options = SessionOptions()
        options.intra_op_num_threads = threads
        session = InferenceSession(files.network, options, providers=["CPUExecutionProvider"])
        return cls(session, Tokenizer.from_str(files.tokenizer))

    def encode(self, texts: Iterable[str]) -> NDArray[np.float32]:
        """Return the vectors of texts, shape (texts, 384), each of length 1."""
        return self.encode_tokens([encoding.ids for encoding in self.tokenizer.encode_batch(list(texts))])

    def find_read_end(self, text: str) -> int:
        """Return the number of characters of a text, from its beginning, that its vector depends on."""
        return max((end for _, end in self.tokenizer.encode(text).offsets), default=0)

    def encode_tokens(self, texts: Iterable[Sequence[int]]) -> NDArray[np.float32]:
        """Return the vectors of texts that are split into token ids, with those of their begin and end."""
        vectors = [self._encode_one(ids) for ids in texts]
        return np.stack(vectors) if vectors else np.zeros((0, DIMENSIONS), dtype=np.float32)

    def _encode_one(self, ids: Sequence[int]) -> NDArray[np.float32]:
        # One text at a time: the network rounds activations by the largest of a batch, so that in a batch, the
        # vector of a text would depend on the others (cosine 0.98 for single words).
        row = np.array([ids], dtype=np.int64)
        inputs = {"input_ids": row, "attention_mask": np.ones_like(row), "token_type_ids": np.zeros_like(row)}
        given = {name: values for name, values in inputs.items() if name in self._input_names}
        mean = np.asarray(self._session.run(None, given)[0], dtype=np.float32)[0].mean(axis=0)
        return np.asarray(mean / np.linalg.norm(mean), dtype=np.float32)
