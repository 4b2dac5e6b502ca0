"""A folder of .txt, .md and .html files, one document a file.

The id is its path in the folder; the title is what the file calls itself, never the name of the file: that is no text.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from indexer.errors import BadInput
from indexer.readers.jsonl import Row
from indexer.readers.markup import html_text, markdown_text, plain_text
from indexer.records import BadRecord

SUFFIXES = (".txt", ".md", ".html", ".htm")


def read_folder(source: str, max_bytes: int) -> Iterator[tuple[str, Row]]:
    """(file, its row) for every file, by path; links to folders and hidden files are left out."""
    root = Path(source)
    found = False
    for folder, names, files in os.walk(root):
        names[:] = sorted(name for name in names if not name.startswith("."))
        for name in sorted(files):
            if not name.startswith(".") and name.lower().endswith(SUFFIXES):
                found = True
                path = Path(folder) / name
                yield str(path), read_file(path, path.relative_to(root).as_posix(), max_bytes)
    if not found:
        raise BadInput(
            f"{source} has no {', '.join(SUFFIXES)} files", fix="name another folder or a .jsonl or .csv file"
        )


def read_file(path: Path, name: str, max_bytes: int) -> Row:
    """One file as a record."""
    try:
        with path.open("rb") as stream:
            data = stream.read(8 * max_bytes + 1)
    except OSError as error:
        return 0, BadRecord(f"cannot read it: {error.strerror}"), ""
    if len(data) > 8 * max_bytes:
        return 0, BadRecord(f"the file has more than {8 * max_bytes:,} bytes"), ""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return 0, BadRecord("not valid UTF-8"), ""
    suffix = path.suffix.lower()
    if suffix in (".html", ".htm"):
        title, text = html_text(text)
    elif suffix == ".md":
        title, text = markdown_text(text)
    else:
        title, text = plain_text(text)
    return 0, {"id": name, "title": title, "text": text}, name
