"""The house itself: who may import whom, what is listed where, and what must never be written down."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from deploy.write_docs import PAGES
from indexer.cli.main import COMMANDS

ROOT = Path(__file__).resolve().parent.parent
ROOMS = ("indexer", "worker", "webapi")
"""Each may import itself and those before it."""


def sources(folder: str) -> list[Path]:
    return sorted((ROOT / folder).rglob("*.py"))


def imported_modules(path: Path) -> set[str]:
    """Every module named in an import, wherever it stands in the file."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            found.add(node.module)
    return found


def tracked_files() -> list[Path]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False)
    if listed.returncode:
        pytest.skip("not a git checkout")
    return [ROOT / name for name in listed.stdout.decode().split("\0") if name and (ROOT / name).is_file()]


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_imports_only_itself_and_the_rooms_below(room: str) -> None:
    above = set(ROOMS[ROOMS.index(room) + 1 :]) | {"tests", "deploy"}
    for path in sources(room):
        wrong = {name for name in imported_modules(path) if name.partition(".")[0] in above}
        assert not wrong, f"{path.relative_to(ROOT)} imports {sorted(wrong)}"


def test_relative_imports_are_not_used() -> None:
    for room in ROOMS:
        for path in sources(room):
            relative = [n for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, ast.ImportFrom) and n.level]
            assert not relative, path


def test_the_numeric_core_imports_numpy_and_scipy_only() -> None:
    allowed = {"numpy", "scipy", *sys.stdlib_module_names}
    for path in sources("worker/solver"):
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
    assert {name for name in modules if name.partition(".")[0] in ROOMS} == {
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
    for path in tracked_files():
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
