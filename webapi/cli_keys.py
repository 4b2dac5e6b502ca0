"""``phrasecom keys``: the API keys of the service."""

from __future__ import annotations

from pathlib import Path

import click

from indexer.cli.options import debug_option, json_option, setting_option
from indexer.cli.output import print_json, print_table


@click.group("keys")
def keys_command() -> None:
    """Create, list and remove API keys. Running servers notice changes within seconds."""


@keys_command.command("add")
@json_option
@debug_option
@click.argument("name")
@click.option(
    "--scope",
    "scopes",
    multiple=True,
    help="read, compare, ingest or admin; may be repeated.  [default: read, compare]",
)
@click.option(
    "--index", "indexes", multiple=True, metavar="NAME", help="Only this index; may be repeated.  [default: all]"
)
@click.option(
    "--group", "groups", multiple=True, metavar="GROUP", help="Also documents of this group; may be repeated."
)
@click.option("--all-groups", is_flag=True, help="All documents, regardless of their acl.")
@setting_option("keys_file", metavar="FILE")
def add_command(
    name: str,
    scopes: tuple[str, ...],
    indexes: tuple[str, ...],
    groups: tuple[str, ...],
    all_groups: bool,
    keys_file: str | None,
    as_json: bool,
) -> int:
    """Create a key and print it once: only its hash is stored.

    Without --group, the key can read documents that have no acl. To replace a key, create one under another name,
    distribute it, then remove the old one.
    """
    from indexer.errors import BadParameter
    from webapi.auth.api_keys import ALL_NAMES, generate_key, hash_key, make_api_key, read_keys, write_keys

    path = _find_keys_file(keys_file)
    keys = read_keys(path) if path.exists() else {}
    if name in keys:
        raise BadParameter(
            f"the key {name!r} already exists", fix=f"choose another name, or: phrasecom keys remove {name}"
        )
    if all_groups and groups:
        raise BadParameter("--all-groups and --group are mutually exclusive", fix="give one of them")
    key = generate_key(name)
    readable = (ALL_NAMES,) if all_groups else groups
    keys[name] = make_api_key(name, hash_key(key), scopes or ("read", "compare"), indexes or (ALL_NAMES,), readable)
    write_keys(path, keys)
    if as_json:
        print_json({"name": name, "key": key, "file": str(path)})
    else:
        click.echo(f"key added to {path}; it is not shown again:", err=True)
        click.echo(key)
    return 0


@keys_command.command("list")
@json_option
@debug_option
@setting_option("keys_file", metavar="FILE")
def list_command(keys_file: str | None, as_json: bool) -> int:
    """List the keys with their scopes, indexes and groups."""
    from webapi.auth.api_keys import ALL_NAMES, read_keys

    def list_names(values: frozenset[str] | None) -> list[str]:
        return [ALL_NAMES] if values is None else sorted(values)

    keys = read_keys(_find_keys_file(keys_file)).values()
    rows = [(key.name, list_names(key.scopes), list_names(key.indexes), list_names(key.groups)) for key in keys]
    columns = ("name", "scopes", "indexes", "groups")
    if as_json:
        print_json([dict(zip(columns, row, strict=True)) for row in rows])
    else:
        print_table(columns, [(name, *(" ".join(values) for values in lists)) for name, *lists in rows])
    return 0


@keys_command.command("remove")
@json_option
@debug_option
@click.argument("name")
@setting_option("keys_file", metavar="FILE")
def remove_command(name: str, keys_file: str | None, as_json: bool) -> int:
    """Remove a key."""
    from indexer.errors import BadParameter
    from webapi.auth.api_keys import read_keys, write_keys

    path = _find_keys_file(keys_file)
    keys = read_keys(path)
    if keys.pop(name, None) is None:
        raise BadParameter(f"no key {name!r} in {path}", fix="see: phrasecom keys list")
    write_keys(path, keys)
    if as_json:
        print_json({"removed": name})
    return 0


def _find_keys_file(keys_file: str | None) -> Path:
    """Return the path of the option or the setting; raise BadSetting if there is neither."""
    from indexer.errors import BadSetting
    from indexer.settings import load_settings

    path = load_settings(keys_file=keys_file).keys_file
    if not path:
        raise BadSetting("no keys_file is set", fix="give --keys-file FILE, or set PHRASECOM_KEYS_FILE")
    return Path(path)
