"""The demo's corpus: docstrings of the standard library and of the packages this project needs.

Sources are parsed, never imported, so nothing of what is read runs.
"""

from __future__ import annotations

import ast
import hashlib
import re
import sys
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from indexer.documents import Document

MIN_WORDS = 40
_LEFT_OUT = frozenset(
    "test tests testing conftest site-packages externals vendor extern _vendor _async v1 deprecated "
    "idlelib lib2to3 ensurepip encodings pydoc_data turtledemo distutils".split()
)
"""Folders and modules that hold tests, copies of other code, or tables."""
_PACKAGES_LEFT_OUT = frozenset({"narwhals", "prompt-toolkit", "pygments", "valkey", "wcwidth"})
"""Large and nearly without prose, or the text of another package word for word."""

Definition = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Source:
    """One Python file and the name it is imported under."""

    path: Path
    module: str
    package: str


def read_docstrings(distribution: str = "phrasecom") -> Iterator[Document]:
    """One document for every module, class and function whose docstring has enough prose."""
    texts: set[bytes] = set()
    names: set[str] = set()
    for source in [*library_sources(), *package_sources(distribution)]:
        for full_name, docstring in docstrings_of(source):
            if len(docstring.split()) < MIN_WORDS:
                continue
            text = prose(docstring)
            name = public_name(full_name) if public_name(full_name) not in names else full_name
            mark = hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=16).digest()
            if len(text.split()) < MIN_WORDS or mark in texts or name in names:
                continue
            texts.add(mark)
            names.add(name)
            facets = {"package": (source.package,), "module": (public_name(source.module),)}
            yield Document(id=name, title=_title(name, text), text=text, facets=facets)


def library_sources() -> list[Source]:
    """The files of the standard library."""
    root = Path(sysconfig.get_paths()["stdlib"])
    files = (path.relative_to(root) for path in sorted(root.rglob("*.py")))
    return [Source(root / path, _module(path), _module(path).partition(".")[0]) for path in files if _wanted(path)]


def package_sources(distribution: str) -> list[Source]:
    """The files of everything ``distribution`` needs."""
    found = []
    for name, needed in sorted(_needed_by(distribution).items()):
        for file in sorted(needed.files or [], key=str):
            path = Path(file)
            if path.suffix == ".py" and ".." not in path.parts and _wanted(path):
                found.append(Source(Path(str(needed.locate_file(file))), _module(path), name))
    return found


def corpus_key() -> str:
    """Changes when a package, the Python or this reader changes."""
    versions = [f"{name}=={needed.version}" for name, needed in sorted(_needed_by("phrasecom").items())]
    seen = "\n".join([sys.version, Path(__file__).read_text(), *versions])
    return hashlib.sha256(seen.encode()).hexdigest()[:12]


def _needed_by(distribution: str) -> dict[str, metadata.Distribution]:
    """Its dependencies and theirs, by normalised name; extras and what is not installed are left out."""
    found: dict[str, metadata.Distribution] = {}
    todo = [distribution]
    while todo:
        try:
            current = metadata.distribution(todo.pop())
        except metadata.PackageNotFoundError:
            continue
        name = re.sub(r"[-_.]+", "-", current.name).lower()
        if name in found or name in _PACKAGES_LEFT_OUT:
            continue
        found[name] = current
        for requirement in current.requires or []:
            if "extra ==" not in requirement:
                todo.append(re.split(r"[^\w.-]", requirement, maxsplit=1)[0])
    found.pop(distribution, None)
    return found


def _wanted(path: Path) -> bool:
    return _LEFT_OUT.isdisjoint(path.with_suffix("").parts)


def _module(path: Path) -> str:
    return ".".join(path.with_suffix("").parts).removesuffix(".__init__")


def public_name(name: str) -> str:
    """Without the private modules on the way: ``scipy.stats._kde.gaussian_kde`` -> ``scipy.stats.gaussian_kde``."""
    first, *rest = name.split(".")
    return ".".join([first, *(part for part in rest if not part.startswith("_"))])


def docstrings_of(source: Source) -> Iterator[tuple[str, str]]:
    """(dotted name, docstring) of the file and of the public classes and functions in it."""
    try:
        tree = ast.parse(source.path.read_bytes())
    except (SyntaxError, ValueError, OSError):
        return
    yield from _definitions(tree, source.module)


def _definitions(node: Definition, name: str) -> Iterator[tuple[str, str]]:
    docstring = ast.get_docstring(node)
    if docstring:
        yield name, docstring
    for child in node.body:
        if isinstance(child, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and not child.name.startswith("_"):
            yield from _definitions(child, f"{name}.{child.name}")


_SECTION = re.compile(r"^[ \t]*[A-Z][A-Za-z ]{2,30}\n[ \t]*[-=~^]{3,}[ \t]*$", re.MULTILINE)
_REFERENCES = re.compile(
    r"^[ \t]*(References|See Also)\n[ \t]*-{3,}[ \t]*$.*?(?=^[ \t]*[A-Z]\w+\n[ \t]*-{3,}|\Z)", re.M | re.S
)
_DOCTEST = re.compile(r"^[ \t]*>>>.*?(?=\n[ \t]*\n|\Z)", re.MULTILINE | re.DOTALL)
_LITERAL_BLOCK = re.compile(r"(?<=:):[ \t]*\n(?:[ \t]*\n)+([ \t]+)\S[^\n]*(?:\n(?:\1[^\n]*|[ \t]*))*")
_DIRECTIVE = re.compile(r"^[ \t]*(?:\.\. [\w:-]+::|!!! |\?\?\? ).*$", re.MULTILINE)
_OPTION = re.compile(r"^[ \t]*:[\w-]+:.*$|^[ \t]*\.\. _.*$|^[ \t]*:(param|type|rtype|raises?|returns?)\b[^:\n]*:", re.M)
_PARAMETER = re.compile(r"^[ \t]*[*\w][\w, *.]* : .*$", re.MULTILINE)
_REFERENCE = re.compile(r":(?:ref|doc|term|cite|numref):`[^`<]*`|(?<![\w`])\w+_(?=[\s,.)])")
_ROLE = re.compile(r":[\w:]+:`~?([^`<]+?)(?: <[^`>]*>)?`")
_RULE = re.compile(r"^[ \t]*[-=~^*+#|]{3,}[-=~^*+#| ]*$", re.MULTILINE)
_LINK = re.compile(r"\[([^\]\n]+)\](?:\[[^\]\n]*\]|\([^)\n]*\))")
_TARGET = re.compile(r"`([^`<\n]+?) ?<[^`>]*>`_{0,2}")
_TAG = re.compile(r"</?(?:p|ul|ol|li|code|a|em|strong|pre|br|h\d|table|t[dhr]|div|span)\b[^>\n]*>")
_NOISE = re.compile(r"<?\bhttps?://[^\s>]+>?_{0,2}|^[ \t]*_+$|\[\d+\]_|%\(\w+\)s|`+|\*{1,2}(?=\w)|(?<=\w)\*{1,2}", re.M)


def prose(docstring: str) -> str:
    """The sentences of a docstring: no examples, code blocks, signatures, rules or markup."""
    text = docstring.expandtabs().replace("\r", "")
    text = _REFERENCES.sub("", text)
    text = _DOCTEST.sub("", text)
    text = _LITERAL_BLOCK.sub(".\n", text)
    text = _SECTION.sub("", text)
    for pattern in (_DIRECTIVE, _OPTION, _PARAMETER, _RULE):
        text = pattern.sub("", text)
    text = _REFERENCE.sub("", text)
    text = _ROLE.sub(r"\1", text)
    text = _LINK.sub(r"\1", _TARGET.sub(r"\1", text))
    text = _TAG.sub("", text)
    text = _NOISE.sub("", text)
    text = re.sub(r"\\[a-zA-Z]+|[{}\\]", " ", text) if "\\" in text else text
    text = "\n".join(re.sub(r" {2,}", " ", line.strip()) for line in text.split("\n"))
    return re.sub(r"\n{3,}", "\n\n", text).strip().replace("\0", "").encode("utf-8", "replace").decode()


def _title(name: str, text: str) -> str:
    """The first sentence, or the plain name where that is long: ``Condition``."""
    first = text.split("\n\n", 1)[0].replace("\n", " ").split(". ", 1)[0].rstrip(".")
    return first if len(first) <= 100 else name.rpartition(".")[2]
