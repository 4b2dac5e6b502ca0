"""Documents for the browser: papers on four topics whose phrases overlap, and documents full of markup."""

from __future__ import annotations

from indexer.documents import Document

TOPICS = {
    "graphs": ("web graph", "link analysis", "random walk", "page ranking"),
    "models": ("topic model", "latent variable", "word cluster", "document collection"),
    "energy": ("solar cell", "energy storage", "power grid", "thin film"),
    "health": ("clinical trial", "blood pressure", "heart disease", "patient group"),
}
PLACES = (
    "river delta",
    "city traffic",
    "school lunch",
    "desert road",
    "opera house",
    "fishing boat",
    "mountain village",
    "space telescope",
    "paper mill",
    "night train",
)
"""One for every four papers, so that papers on one topic differ."""
SENTENCE_FORMATS = (
    "The {} is described first.",
    "We measure how the {} behaves over several years.",
    "Earlier work on the {} left this open.",
    "A better {} needs more data.",
)
SOURCES = ("Journal of Examples", "Proceedings", "Letters")

LONG_WORD = "floccinaucinihilipilification" * 7
ODD_TITLES = (
    "<img src=x onerror=window.pwned=1>",
    "<script>window.pwned=1</script> \"quoted\" 'and' `ticked`",
    '"><svg onload=window.pwned=1>',
    "Emoji 🦉🔬 first, then the web graph",
    "مرحبا بالعالم web graph שלום",
    LONG_WORD,
    "{{7*7}} ${window.pwned=1} javascript:window.pwned=1",
    "</textarea></title><b>bold</b> &amp; &lt;",
)
ODD_IDS = (
    "a/b/c",
    "what?q=1&x=2",
    "100% #sure",
    "<b>id</b>",
    "id:with:colons",
    "a,b,c",
    "späce und ünï 🦉",
    "..\\..//x",
)


def make_papers(count: int = 40) -> list[Document]:
    """Return papers that each leave out one phrase of their topic and take in one of the next."""
    names = list(TOPICS)
    documents = []
    for number in range(count):
        topic = names[number % 4]
        phrases = [p for at, p in enumerate(TOPICS[topic]) if at != number // 4 % 4]
        phrases += [TOPICS[names[(number + 1) % 4]][number % 3], PLACES[number // 4]]
        title = f"On the {phrases[0]} and the {phrases[1]}, part {number + 1}"
        facets = {"source": [SOURCES[number % 3]], "topic": [topic]}
        date = f"{2021 + number % 4}-{1 + number % 12:02d}-15"
        documents.append(Document(f"paper-{number + 1}", title, _make_text(phrases), date=date, facets=facets))
    return documents


def make_odd_documents() -> list[Document]:
    """Return the papers' texts with hostile titles and ids, markup, emoji and right-to-left words."""
    documents = []
    for number, paper in enumerate(make_papers(24)):
        title = ODD_TITLES[number % len(ODD_TITLES)]
        text = f"🦉🦉 {title} {paper.text} <b onclick=window.pwned=1>{LONG_WORD}</b> مرحبا. {paper.text}"
        id = ODD_IDS[number] if number < len(ODD_IDS) else f"{ODD_IDS[number % 8]} {number}"
        facets = {"kind<i>": [f"<u>{number % 2}</u>"], "source": ['"quoted" & more']}
        url = "javascript:window.pwned=1" if number % 2 else "https://example.org/?a=1&b=<2>"
        documents.append(Document(id, title, text, date="2022-02-02", url=url, facets=facets))
    return documents


def _make_text(phrases: list[str]) -> str:
    return " ".join(sentence.format(phrase) for phrase in phrases for sentence in SENTENCE_FORMATS)
