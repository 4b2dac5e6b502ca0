"""Reader of pages: a folder of .txt, .md and .html files, or one of them, one document a file.

The id is the path in the folder. The title is that in the file, never the file's name, which is not text.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

from indexer.errors import BadInput
from indexer.readers.markup import parse_html, parse_markdown, parse_plain_text
from indexer.records import BadRecord, FieldMap, SourceRow

PAGE_PARSERS: dict[str, Callable[[str], tuple[str, str]]] = {
    ".txt": parse_plain_text,
    ".md": parse_markdown,
    ".html": parse_html,
    ".htm": parse_html,
}
"""Suffix -> function that returns (title, text) of a page."""


def read_folder(source: str, fields: FieldMap, max_bytes: int) -> Iterator[SourceRow]:
    """Yield a row for every page of a folder, by path; hidden files and links to folders are left out."""
    root = Path(source)
    has_pages = False
    for folder, names, files in os.walk(root):
        names[:] = sorted(name for name in names if not name.startswith("."))
        for name in sorted(files):
            if not name.startswith(".") and name.lower().endswith(tuple(PAGE_PARSERS)):
                has_pages = True
                path = Path(folder) / name
                yield read_page(path, path.relative_to(root).as_posix(), max_bytes)
    if not has_pages:
        raise BadInput(f"{source} has no {', '.join(PAGE_PARSERS)} files", fix="name another folder, or a file")


def read_page_file(source: str, fields: FieldMap, max_bytes: int) -> Iterator[SourceRow]:
    """Yield the row of a single page."""
    yield read_page(Path(source), Path(source).name, max_bytes)._replace(source=source)


def read_page(path: Path, id: str, max_bytes: int) -> SourceRow:
    """Return the row of a page."""
    source = str(path)
    try:
        with path.open("rb") as stream:
            data = stream.read(8 * max_bytes + 1)
    except OSError as error:
        return SourceRow(source, 0, BadRecord(f"cannot read it: {error.strerror}"))
    if len(data) > 8 * max_bytes:
        return SourceRow(source, 0, BadRecord(f"the file has more than {8 * max_bytes:,} bytes"))
    try:
        page = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return SourceRow(source, 0, BadRecord("not valid UTF-8"))
    parse_page = PAGE_PARSERS.get(path.suffix.lower(), parse_plain_text)  # ".md" alone has no suffix
    title, text = parse_page(page)
    return SourceRow(source, 0, {"id": id, "title": title, "text": text}, id)
