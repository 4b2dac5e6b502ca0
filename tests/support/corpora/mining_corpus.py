"""Made-up abstracts: real terms to be mined, in sentences of boilerplate that should not be."""

from __future__ import annotations

import random

from indexer.documents import Document

TERMS = [
    "neural network", "gradient descent", "support vector machine", "decision tree", "random forest", "kernel method",
    "markov chain", "hidden markov model", "language model", "machine translation", "speech recognition", "web graph",
    "image segmentation", "object detection", "transfer learning", "topic model", "matrix factorization",
    "social network", "data mining", "question answering", "information retrieval", "feature selection",
    "linear regression", "knowledge graph", "tide pool", "lava tube", "salt marsh", "peat bog", "glacier tongue",
    "river delta",
]  # fmt: skip
FRAMES = [
    "We propose a novel approach to {0} that widely outperforms the {1}.",
    "Extensive experiments show that the {0} achieves better results than a {1}.",
    "The {0} is compared with the {1}, and our findings shed light on it.",
    "In this paper we study the {0} ({1}) and demonstrate its use.",
    "Results on the {0} clearly demonstrate that {1} works.",
    "We show how the {0} and the {1} can be combined.",
]


def generate_abstracts(size: int = 400, seed: int = 3) -> list[Document]:
    rng = random.Random(seed)
    abstracts = []
    for number in range(size):
        terms = rng.sample(TERMS, 4)
        sentences = [rng.choice(FRAMES).format(*rng.sample(terms, 2)) for _ in range(6)]
        abstracts.append(Document(f"d{number}", f"{terms[0].title()} for {terms[1].title()}", " ".join(sentences)))
    return abstracts
