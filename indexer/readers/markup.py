"""The words of a page without its markup."""

from __future__ import annotations

import re
from html.parser import HTMLParser

LONGEST_TITLE = 120
_SILENT = frozenset({"script", "style", "noscript", "template", "svg", "head"})
_BLOCKS = frozenset(
    "address article aside blockquote br dd div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 "
    "header hr li main nav ol option p pre section table td th tr ul".split()
)


class _Words(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.title: list[str] = []
        self.body: list[str] = []
        self._silent: list[str] = []
        self._in_title = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "title" and not self.title:
            self._in_title = True
        elif tag == "body":
            self._silent.clear()  # a head that was never closed ends here
        elif tag in _SILENT:
            self._silent.append(tag)
        elif tag in _BLOCKS:
            self.body.append("\n\n" if tag != "br" else "\n")

    def handle_endtag(self, tag: str) -> None:
        if tag == "title":
            self._in_title = False
        elif tag in self._silent:
            while self._silent.pop() != tag:
                pass
        elif tag in _BLOCKS:
            self.body.append("\n\n")

    def handle_data(self, data: str) -> None:
        if self._in_title:
            self.title.append(data)
        elif not self._silent:
            self.body.append(data)


def html_text(page: str) -> tuple[str, str]:
    """(title, text) of an HTML page; a block ends a paragraph, scripts and styles are dropped."""
    words = _Words()
    words.feed(page)
    words.close()
    return " ".join("".join(words.title).split()), _tidy("".join(words.body))


def markdown_text(page: str) -> tuple[str, str]:
    """(title, text) of a Markdown page: the first heading, and the prose without code blocks and links' targets."""
    page = page.replace("\r\n", "\n")
    page = re.sub(r"\A---\n.*?\n---\n", "", page, flags=re.DOTALL)
    page = re.sub(r"^(```|~~~).*?^\1[`~]*\s*$", "", page, flags=re.DOTALL | re.MULTILINE)
    page = re.sub(r"<!--.*?-->", "", page, flags=re.DOTALL)
    page = re.sub(r"!?\[([^\]\n]*)\]\([^)\n]*\)", r"\1", page)
    heading = re.search(r"^#{1,6}[ \t]+(.+?)[ \t]*#*$", page, flags=re.MULTILINE)
    page = re.sub(r"^#{1,6}[ \t]+(.+?)[ \t]*#*$", r"\n\1\n", page, flags=re.MULTILINE)
    page = re.sub(r"(\*\*|__|`+)(?=\S)(.+?)(?<=\S)\1", r"\2", page)
    return (heading.group(1).strip() if heading else ""), _tidy(page)


def _tidy(text: str) -> str:
    lines = (" ".join(line.split()) for line in text.split("\n"))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


def plain_text(text: str) -> tuple[str, str]:
    """Title and text: a short first line with nothing under it is a title."""
    text = text.replace("\r\n", "\n")
    first, _, rest = text.lstrip("\n").partition("\n")
    if rest.startswith("\n") and rest.strip() and len(first) <= LONGEST_TITLE:
        return first.strip(), rest.strip("\n")
    return "", text
