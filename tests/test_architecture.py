"""The structure of the product: which component imports which, what the pages list, and what no file may contain."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections import Counter
from itertools import product
from pathlib import Path

import pytest

from deploy.write_docs import PAGES
from indexer.cli.main import COMMANDS
from tests.support.paths import ROOT

PACKAGES = ("indexer", "worker", "webapi")
ARCHITECTURE = (ROOT / "docs" / "architecture.md").read_text()
COMPONENTS = re.findall(r"^([\w.]+) ", re.findall(r"```text\n(.*?)```", ARCHITECTURE, re.DOTALL)[0], re.MULTILINE)
"""Components in the order of docs/architecture.md: each imports only itself and those before it."""
ENTRY_POINTS = {"indexer.__main__", "indexer.engines", "worker", "webapi"}
"""Modules that may import any component: the command, ``open_engine``, and the packages' public names."""
TWINS = {"Bridge", "NoEvidence"}
"""Classes of the answer whose description in OpenAPI has the same name."""
MAX_MODULES = 20
"""Modules in a folder."""


def list_sources(folder: str) -> list[Path]:
    return sorted((ROOT / folder).rglob("*.py"))


MODULES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for package in PACKAGES
    for path in list_sources(package)
}
"""Modules of the product by their dotted names."""


def find_component(module: str) -> str | None:
    """Return the component of a module: its own, or that of the nearest folder it is in; None if none is listed."""
    names = module.split(".")
    ancestors = (".".join(names[:length]) for length in range(len(names), 0, -1))
    # a top-level package is a component of its own modules only
    return next((name for name in ancestors if name in COMPONENTS and ("." in name or len(names) <= 2)), None)


def imported_modules(path: Path) -> set[str]:
    """Return every module that a file imports, also in functions and for type checking."""
    modules: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            modules |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            names = {f"{node.module}.{alias.name}" for alias in node.names}
            modules |= (names & MODULES.keys()) or {node.module}
    return modules


def list_tracked_files() -> list[Path]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False)
    if listed.returncode:
        pytest.skip("not a git checkout")
    return [ROOT / name for name in listed.stdout.decode().split("\0") if name and (ROOT / name).is_file()]


@pytest.mark.parametrize("package", PACKAGES)
def test_a_component_imports_only_itself_and_those_listed_before_it(package: str) -> None:
    for module, path in MODULES.items():
        if module.partition(".")[0] != package or module in ENTRY_POINTS:
            continue
        component = find_component(module)
        assert component, f"{module} is in no component of docs/architecture.md"
        allowed = COMPONENTS[: COMPONENTS.index(component) + 1]
        for imported in imported_modules(path):
            assert imported.partition(".")[0] not in ("tests", "deploy"), f"{module} imports {imported}"
            if imported in MODULES:
                assert find_component(imported) in allowed, f"{module} imports {imported}"


def test_an_engine_is_imported_only_where_engines_are_opened() -> None:
    """Of the components listed after ``indexer.engines``, it imports the two engines and nothing else."""
    later = COMPONENTS[COMPONENTS.index("indexer.engines") + 1 :]
    imported = {name for name in imported_modules(MODULES["indexer.engines"]) if find_component(name) in later}
    assert imported == {"indexer.engines.elasticsearch.engine", "indexer.engines.embedded.engine"}


def test_every_component_exists_and_is_listed_once() -> None:
    assert len(COMPONENTS) == len(set(COMPONENTS))
    assert set(COMPONENTS) == {find_component(module) for module in MODULES} - {None}


def list_named_files() -> set[str]:
    """Return the files and folders that docs/architecture.md names; a bare name is in the folder named before it."""
    names: set[str] = set()
    part = r"(?:[\w*]+|\{[\w,]+\})"
    for line in ARCHITECTURE.splitlines():
        folder = ""
        for name in re.findall(rf"(?<![\w/]){part}(?:/{part})*(?:\.py|\.md)?/?", line):
            if "/" not in name and not name.endswith((".py", ".md")):
                continue
            names.add(folder + name if "/" not in name else name)
            if "/" in name:
                folder = name.rpartition("/")[0] + "/" if "." in name else name.rstrip("/") + "/"
    return names


def test_every_file_named_in_the_architecture_page_exists() -> None:
    names = list_named_files()
    assert len(names) > 50
    for name in names:
        choices = [choice.strip("{}").split(",") for choice in re.split(r"(\{[\w,]+\})", name)]
        for path in map("".join, product(*choices)):
            assert list(ROOT.glob(path)), f"docs/architecture.md names {path}"


def test_no_class_name_is_used_twice() -> None:
    classes = Counter(
        node.name
        for path in MODULES.values()
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    assert {name for name, count in classes.items() if count > 1} == TWINS


def test_no_folder_has_too_many_modules() -> None:
    folders = Counter(path.parent.relative_to(ROOT) for path in MODULES.values())
    assert {str(folder): count for folder, count in folders.items() if count > MAX_MODULES} == {}


def test_relative_imports_are_not_used() -> None:
    for path in MODULES.values():
        relative = [n for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, ast.ImportFrom) and n.level]
        assert not relative, path


def test_the_numeric_core_imports_numpy_and_scipy_only() -> None:
    allowed = {"numpy", "scipy", *sys.stdlib_module_names}
    for path in list_sources("worker/solver"):
        wrong = {
            name
            for name in imported_modules(path)
            if name.partition(".")[0] not in allowed and not name.startswith("worker.solver")
        }
        assert not wrong, f"{path.relative_to(ROOT)} imports {sorted(wrong)}"


def run_python(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT).stdout


def test_listing_the_commands_imports_none_of_the_heavy_libraries() -> None:
    loaded = run_python(
        "import sys; from indexer.cli.main import run; run(['--help']); print('MODULES', *sorted(sys.modules))"
    )
    modules = set(loaded.partition("MODULES")[2].split())
    heavy = {"numpy", "scipy", "sklearn", "elasticsearch", "pydantic", "flask", "celery", "redis", "tantivy", "rich"}
    assert not modules & heavy
    assert {name for name in modules if name.partition(".")[0] in PACKAGES} == {
        "indexer",
        "indexer.errors",
        "indexer.cli",
        "indexer.cli.main",
    }


def test_every_listed_command_is_in_the_module_the_table_names() -> None:
    code = "import importlib, sys\nfrom indexer.cli.main import COMMANDS\n"
    code += "for name, place in COMMANDS.items():\n"
    code += "    command = getattr(importlib.import_module(place.module), name + '_command')\n"
    code += "    print(name, command.name)"
    listed = [line.split() for line in run_python(code).splitlines()]
    assert [name for name, _ in listed] == list(COMMANDS)
    assert all(name == own for name, own in listed)


def test_every_command_that_exists_is_listed() -> None:
    for module in {place.module for place in COMMANDS.values()}:
        text = (ROOT / (module.replace(".", "/") + ".py")).read_text()
        names = re.findall(r"^@command\(\"(\w+)\"", text, flags=re.MULTILINE)
        listed = [name for name, place in COMMANDS.items() if place.module == module]
        assert set(names) <= set(listed), module


@pytest.mark.parametrize("page", sorted(PAGES))
def test_a_generated_page_is_what_the_code_says(page: str) -> None:
    assert (ROOT / "docs" / page).read_text() == PAGES[page](), "run: make docs"


def test_no_package_registry_is_named_in_any_file() -> None:
    hosts = ["pypi" + ".org", "python" + "hosted.org", "npm" + "js.org", "npm" + "js.com", "crates" + ".io"]
    hosts += ["repo1.maven" + ".org", "repo.maven" + ".apache.org"]
    for path in list_tracked_files():
        text = path.read_bytes().lower()
        named = [host for host in hosts if host.encode() in text]
        assert not named, f"{path.relative_to(ROOT)} names {named}"


@pytest.mark.parametrize("lock", ["requirements.txt", "requirements-dev.txt"])
def test_a_lock_pins_every_package_with_hashes_and_names_no_place(lock: str) -> None:
    text = (ROOT / lock).read_text()
    assert "://" not in text
    blocks = re.findall(r"^(\S[^#\n]*?==\S+)((?: \\\n    --hash=sha256:[0-9a-f]{64})+)$", text, flags=re.MULTILINE)
    pinned = "\n".join(name + hashes for name, hashes in blocks)
    assert pinned == "\n".join(line for line in text.splitlines() if not line.startswith("#"))


def test_the_locks_agree_and_hold_what_the_project_asks_for() -> None:
    import tomllib

    def pins(name: str) -> dict[str, str]:
        return dict(re.findall(r"^([\w.-]+)==(\S+)", (ROOT / name).read_text(), flags=re.MULTILINE))

    runtime, development = pins("requirements.txt"), pins("requirements-dev.txt")
    assert runtime.items() <= development.items()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    asked = [re.split(r"[^\w.-]", r, maxsplit=1)[0] for r in project["project"]["dependencies"]]
    assert set(asked) <= set(runtime)
    asked_dev = [re.split(r"[^\w.-]", r, maxsplit=1)[0] for r in project["dependency-groups"]["dev"]]
    assert set(asked_dev) <= set(development)


def test_the_version_is_the_same_everywhere() -> None:
    from importlib import metadata

    from indexer import __version__

    assert metadata.version("phrasecom") == __version__
    assert f'version = "{__version__}"' in (ROOT / "pyproject.toml").read_text()
