"""Title and text of HTML, Markdown and plain text pages, without their markup."""

from __future__ import annotations

import re
from html.parser import HTMLParser

MAX_TITLE_CHARACTERS = 120
_HIDDEN_ELEMENTS = frozenset({"script", "style", "noscript", "template", "svg", "head"})
_BLOCK_ELEMENTS = frozenset(
    "address article aside blockquote br dd div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 "
    "header hr li main nav ol option p pre section table td th tr ul".split()
)


class _HtmlTextParser(HTMLParser):
    """Collects the title and the visible text of a page; a block element starts a paragraph."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.title: list[str] = []
        self.body: list[str] = []
        self._hidden: list[str] = []
        self._in_title = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "title" and not self.title:
            self._in_title = True
        elif tag == "body":
            self._hidden.clear()  # a head that was never closed ends here
        elif tag in _HIDDEN_ELEMENTS:
            self._hidden.append(tag)
        elif tag in _BLOCK_ELEMENTS:
            self.body.append("\n\n" if tag != "br" else "\n")

    def handle_endtag(self, tag: str) -> None:
        if tag == "title":
            self._in_title = False
        elif tag in self._hidden:
            while self._hidden.pop() != tag:
                pass
        elif tag in _BLOCK_ELEMENTS:
            self.body.append("\n\n")

    def handle_data(self, data: str) -> None:
        if self._in_title:
            self.title.append(data)
        elif not self._hidden:
            self.body.append(data)


def parse_html(page: str) -> tuple[str, str]:
    """Return (title, text) of an HTML page; a block ends a paragraph, scripts and styles are dropped."""
    parser = _HtmlTextParser()
    parser.feed(page)
    parser.close()
    return " ".join("".join(parser.title).split()), _collapse_whitespace("".join(parser.body))


def parse_markdown(page: str) -> tuple[str, str]:
    """Return (title, text) of a Markdown page: the first heading, and the prose without code and link targets."""
    page = page.replace("\r\n", "\n")
    page = re.sub(r"\A---\n.*?\n---\n", "", page, flags=re.DOTALL)
    page = re.sub(r"^(```|~~~).*?^\1[`~]*\s*$", "", page, flags=re.DOTALL | re.MULTILINE)
    page = re.sub(r"<!--.*?-->", "", page, flags=re.DOTALL)
    page = re.sub(r"!?\[([^\]\n]*)\]\([^)\n]*\)", r"\1", page)
    heading = re.search(r"^#{1,6}[ \t]+(.+?)[ \t]*#*$", page, flags=re.MULTILINE)
    page = re.sub(r"^#{1,6}[ \t]+(.+?)[ \t]*#*$", r"\n\1\n", page, flags=re.MULTILINE)
    page = re.sub(r"(\*\*|__|`+)(?=\S)(.+?)(?<=\S)\1", r"\2", page)
    return (heading.group(1).strip() if heading else ""), _collapse_whitespace(page)


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
