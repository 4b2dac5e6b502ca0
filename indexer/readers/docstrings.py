"""Reader of the demo's corpus: docstrings of the standard library and of the packages this project depends on.

Files are parsed, never imported, so none of their code runs.
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
"""Shortest prose that becomes a document."""
_EXCLUDED_PARTS = frozenset(
    "test tests testing conftest site-packages externals vendor extern _vendor _async v1 deprecated "
    "idlelib lib2to3 ensurepip encodings pydoc_data turtledemo distutils".split()
)
"""Folders and modules of tests, copies of other code, or tables."""
_EXCLUDED_PACKAGES = frozenset({"narwhals", "prompt-toolkit", "pygments", "valkey", "wcwidth"})
"""Packages that are large with hardly any prose, or repeat the text of another one word for word."""

Definition = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class PythonFile:
    """One Python file and the name it is imported under."""

    path: Path
    module: str
    package: str


def read_docstrings(distribution: str = "phrasecom") -> Iterator[Document]:
    """Yield a document for every module, class and function whose docstring has enough prose."""
    digests: set[bytes] = set()
    names: set[str] = set()
    for file in [*list_library_files(), *list_package_files(distribution)]:
        for full_name, docstring in extract_docstrings(file):
            if len(docstring.split()) < MIN_WORDS:
                continue
            text = extract_prose(docstring)
            name = to_public_name(full_name) if to_public_name(full_name) not in names else full_name
            digest = hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=16).digest()
            if len(text.split()) < MIN_WORDS or digest in digests or name in names:
                continue
            digests.add(digest)
            names.add(name)
            facets = {"package": (file.package,), "module": (to_public_name(file.module),)}
            yield Document(id=name, title=_make_title(name, text), text=text, facets=facets)


def list_library_files() -> list[PythonFile]:
    """Return the files of the standard library."""
    root = Path(sysconfig.get_paths()["stdlib"])
    files = (path.relative_to(root) for path in sorted(root.rglob("*.py")))
    return [
        PythonFile(root / path, _get_module_name(path), _get_module_name(path).partition(".")[0])
        for path in files
        if _is_included(path)
    ]


def list_package_files(distribution: str) -> list[PythonFile]:
    """Return the files of everything that ``distribution`` depends on."""
    python_files = []
    for name, dependency in sorted(_resolve_dependencies(distribution).items()):
        for file in sorted(dependency.files or [], key=str):
            path = Path(file)
            if path.suffix == ".py" and ".." not in path.parts and _is_included(path):
                python_files.append(PythonFile(Path(str(dependency.locate_file(file))), _get_module_name(path), name))
    return python_files


def compute_corpus_key() -> str:
    """Return a key of the corpus, which changes with the packages, the Python and this reader."""
    dependencies = sorted(_resolve_dependencies("phrasecom").items())
    versions = [f"{name}=={dependency.version}" for name, dependency in dependencies]
    content = "\n".join([sys.version, Path(__file__).read_text(), *versions])
    return hashlib.sha256(content.encode()).hexdigest()[:12]


def _resolve_dependencies(distribution: str) -> dict[str, metadata.Distribution]:
    """Return its dependencies and theirs by normalised name, without extras and what is not installed."""
    dependencies: dict[str, metadata.Distribution] = {}
    todo = [distribution]
    while todo:
        try:
            current = metadata.distribution(todo.pop())
        except metadata.PackageNotFoundError:
            continue
        name = re.sub(r"[-_.]+", "-", current.name).lower()
        if name in dependencies or name in _EXCLUDED_PACKAGES:
            continue
        dependencies[name] = current
        for requirement in current.requires or []:
            if "extra ==" not in requirement:
                todo.append(re.split(r"[^\w.-]", requirement, maxsplit=1)[0])
    dependencies.pop(distribution, None)
    return dependencies


def _is_included(path: Path) -> bool:
    return _EXCLUDED_PARTS.isdisjoint(path.with_suffix("").parts)


def _get_module_name(path: Path) -> str:
    return ".".join(path.with_suffix("").parts).removesuffix(".__init__")


def to_public_name(name: str) -> str:
    """Return the name without private modules: ``scipy.stats._kde.gaussian_kde`` -> ``scipy.stats.gaussian_kde``."""
    first, *rest = name.split(".")
    return ".".join([first, *(part for part in rest if not part.startswith("_"))])


def extract_docstrings(file: PythonFile) -> Iterator[tuple[str, str]]:
    """Yield (dotted name, docstring) of the file and of the public classes and functions in it."""
    try:
        tree = ast.parse(file.path.read_bytes())
    except (SyntaxError, ValueError, OSError):
        return
    yield from _walk_definitions(tree, file.module)


def _walk_definitions(node: Definition, name: str) -> Iterator[tuple[str, str]]:
    docstring = ast.get_docstring(node)
    if docstring:
        yield name, docstring
    for child in node.body:
        if isinstance(child, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and not child.name.startswith("_"):
            yield from _walk_definitions(child, f"{name}.{child.name}")


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
_ROLE = re.compile(r"(?<![\w:]):[\w:]+:`~?([^`<]+?)(?: <[^`>]*>)?`")
_RULE = re.compile(r"^[ \t]*[-=~^*+#|]{3}[-=~^*+#| ]*$", re.MULTILINE)
_LINK = re.compile(r"\[([^\[\]\n]+)\](?:\[[^\[\]\n]*\]|\([^()\n]*\))")
_TARGET = re.compile(r"`([^`<\n]+?) ?<[^`>]*>`_{0,2}")
_TAG = re.compile(r"</?(?:p|ul|ol|li|code|a|em|strong|pre|br|h\d|table|t[dhr]|div|span)\b[^<>\n]*>")
_NOISE = re.compile(r"<?\bhttps?://[^\s>]+>?_{0,2}|^[ \t]*_+$|\[\d+\]_|%\(\w+\)s|`+|\*{1,2}(?=\w)|(?<=\w)\*{1,2}", re.M)


def extract_prose(docstring: str) -> str:
    """Return the sentences of a docstring, without examples, code blocks, signatures, rules and markup."""
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


def _make_title(name: str, text: str) -> str:
    """Return the first sentence, or the plain name (``Condition``) if that is long."""
    first = text.split("\n\n", 1)[0].replace("\n", " ").split(". ", 1)[0].rstrip(".")
    return first if len(first) <= 100 else name.rpartition(".")[2]
