"""Title and text of HTML, Markdown and plain text pages, without their markup.

Anybody may have written a page, so reading one takes time in proportion to its length, whatever is in it: repetitions
end where the next one may begin, and what is never closed is read once (``html.parser`` reads it again for every tag).
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

MAX_TITLE_CHARACTERS = 120
_HIDDEN_ELEMENTS = frozenset({"script", "style", "noscript", "template", "svg", "head"})
_BLOCK_ELEMENTS = frozenset(
    "address article aside blockquote br dd div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 "
    "header hr li main nav ol option p pre section table td th tr ul".split()
)
_MARKUP = re.compile(
    r"""
    <!--(?:-?>|.*?(?:--!?>|\Z))                                              # a comment
    |<(?P<tag>/?[a-z][^\s/>]*+)                                              # a tag with its attributes,
     (?:[^=>]++|=\s*+(?:"[^"]*+"?+|'[^']*+'?+|[^\s"'>][^\s>]*+)?+)*(?:>|\Z)  # quoted or not
    |<[!?/][^>]*+(?:>|\Z)                                                    # a declaration, or a tag of no letters
    """,
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)
"""Markup of HTML as browsers read it; what is never closed lasts until the end of the page."""
_RAW_TEXT_ENDS = {
    tag: re.compile(rf"</{tag}(?=[\s/>])", re.IGNORECASE) for tag in ("script", "style", "textarea", "title")
}
"""Ends of elements that contain no tags."""
_LONG_REFERENCE = re.compile(r"&#[0-9]{8,};?")
"""A number of no character, which ``html.unescape`` may refuse to parse."""


def parse_html(page: str) -> tuple[str, str]:
    """Return (title, text) of an HTML page; a block ends a paragraph, scripts and styles are dropped."""
    title: str | None = None
    body: list[str] = []
    hidden, depth = "", 0  # the hidden element that is open, and how many of its name within each other
    for tag, text in _split_at_tags(page):
        if tag == "title" and title is None:
            title, text = text, ""
        elif tag == "body":
            depth = 0  # a head that was never closed ends here
        elif tag in _HIDDEN_ELEMENTS and (not depth or tag == hidden):
            hidden, depth = tag, depth + 1
        elif depth and tag == f"/{hidden}":
            depth -= 1
        elif tag.removeprefix("/") in _BLOCK_ELEMENTS:
            body.append("\n\n" if tag != "br" else "\n")
        if not depth:
            body.append(text)
    return " ".join(_decode_references(title or "").split()), _collapse_whitespace(_decode_references("".join(body)))


def _split_at_tags(page: str) -> Iterator[tuple[str, str]]:
    """Yield each tag in small letters (``p``, ``/p``; empty for a comment) with the text after it."""
    tag, position = "", 0
    while True:
        raw_text_end = _RAW_TEXT_ENDS.get(tag)
        match = (raw_text_end or _MARKUP).search(page, position)
        yield tag, page[position : match.start() if match else None]
        if match is None:
            return
        tag = "" if raw_text_end else (match["tag"] or "").lower()
        position = match.start() if raw_text_end else match.end()


def _decode_references(text: str) -> str:
    return html.unescape(_LONG_REFERENCE.sub("\ufffd", text)) if "&" in text else text


_FENCE = re.compile(r"(```|~~~)(?:[`~]*+\s*+(\Z))?")
"""The start of a code block; the second group is there if the line can also end one."""
_LINK = re.compile(r"!?\[([^\[\]\n]*+)\]\([^()\n]*+(?:\([^()\n]*+\)[^()\n]*+)*\)")
_HEADING = re.compile(r"^#{1,6}[ \t]++(.+)$", re.MULTILINE)
_STRONG_TEXT = re.compile(r"(\*\*|__)(?=\S)((?:(?!\1)[^\n])+)(?<=\S)\1")


def parse_markdown(page: str) -> tuple[str, str]:
    """Return (title, text) of a Markdown page: the first heading, and the prose without code and link targets."""
    page = page.replace("\r\n", "\n")
    page = re.sub(r"\A---\n.*?\n---\n", "", page, flags=re.DOTALL)
    page = "\n".join(_drop_code_blocks(page.split("\n")))
    *parts, rest = page.split("-->")
    page = "".join([part.partition("<!--")[0] if "<!--" in part else f"{part}-->" for part in parts]) + rest
    for _ in range(2):  # an image may be the text of a link
        page = _LINK.sub(r"\1", page)
    page = _STRONG_TEXT.sub(r"\2", page.replace("`", ""))
    heading = _HEADING.search(page)
    page = _HEADING.sub(lambda match: f"\n{_strip_heading(match[1])}\n", page)
    return (_strip_heading(heading[1]) if heading else ""), _collapse_whitespace(page)


def _drop_code_blocks(lines: list[str]) -> list[str]:
    """Return the lines outside code blocks; a block that is never closed is none."""
    fences = [_FENCE.match(line) for line in lines]
    last_end = {fence[1]: i for i, fence in enumerate(fences) if fence and fence[2] is not None}
    kept, opened = [], ""
    for i, fence in enumerate(fences):
        if opened:
            if fence and fence[1] == opened and fence[2] is not None:
                opened = ""
        elif fence and last_end.get(fence[1], 0) > i:
            opened = fence[1]
        else:
            kept.append(lines[i])
    return kept


def _strip_heading(heading: str) -> str:
    """Return a heading without the number signs that may close it; those of "C#" stay."""
    text = heading.strip()
    opening = text.rstrip("#")
    return opening.rstrip() if opening[-1:].isspace() else text


def _collapse_whitespace(text: str) -> str:
    lines = (" ".join(line.split()) for line in text.split("\n"))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


def parse_plain_text(text: str) -> tuple[str, str]:
    """Return (title, text) of a plain page: a short first line with an empty line below it is the title."""
    text = text.replace("\r\n", "\n")
    first, _, rest = text.lstrip("\n").partition("\n")
    if rest.startswith("\n") and rest.strip() and len(first) <= MAX_TITLE_CHARACTERS:
        return first.strip(), rest.strip("\n")
    return "", text
