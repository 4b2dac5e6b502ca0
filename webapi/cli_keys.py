"""``phrasecom keys``: who may use the service."""

from __future__ import annotations

from pathlib import Path

import click

from indexer.cli.options import debug_option, json_option, print_json, print_table, setting_option


@click.group("keys")
def keys_command() -> None:
    """API keys: make one, list them, take one away. Running servers notice within seconds."""


@keys_command.command("add")
@json_option
@debug_option
@click.argument("name")
@click.option(
    "--scope", "scopes", multiple=True, help="read, compare, ingest, admin; repeat for more. Default: read, compare."
)
@click.option(
    "--index", "indexes", multiple=True, metavar="NAME", help="Only this index; repeat for more. Default: all."
)
@click.option("--group", "groups", multiple=True, metavar="GROUP", help="Documents of this group too; repeat for more.")
@click.option("--all-groups", is_flag=True, help="Every document, whatever its acl.")
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
    """Make a key and print it, once: only its hash is kept.

    Without --group it reads documents that have no acl. To replace a key make one under another name, hand
    it out, then remove the old one.
    """
    from indexer.errors import BadParameter
    from webapi.auth.api_keys import ALL, checked_key, digest, new_key, read_keys, write_keys

    path = _path(keys_file)
    keys = read_keys(path) if path.exists() else {}
    if name in keys:
        raise BadParameter(f"there is a key {name!r}", fix=f"choose another name, or: phrasecom keys remove {name}")
    if all_groups and groups:
        raise BadParameter("--all-groups and --group exclude each other", fix="give one of them")
    made = new_key(name)
    shown = (ALL,) if all_groups else groups
    keys[name] = checked_key(name, digest(made), scopes or ("read", "compare"), indexes or (ALL,), shown)
    write_keys(path, keys)
    if as_json:
        print_json({"name": name, "key": made, "file": str(path)})
    else:
        click.echo(f"kept in {path}; it is not shown again:", err=True)
        click.echo(made)
    return 0


@keys_command.command("list")
@json_option
@debug_option
@setting_option("keys_file", metavar="FILE")
def list_command(keys_file: str | None, as_json: bool) -> int:
    """Show the keys and what each may do."""
    from webapi.auth.api_keys import ALL, read_keys

    def names(values: frozenset[str] | None) -> list[str]:
        return [ALL] if values is None else sorted(values)

    keys = read_keys(_path(keys_file)).values()
    rows = [(key.name, names(key.scopes), names(key.indexes), names(key.groups)) for key in keys]
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
    """Take a key away."""
    from indexer.errors import BadParameter
    from webapi.auth.api_keys import read_keys, write_keys

    path = _path(keys_file)
    keys = read_keys(path)
    if keys.pop(name, None) is None:
        raise BadParameter(f"no key {name!r} in {path}", fix="see: phrasecom keys list")
    write_keys(path, keys)
    if as_json:
        print_json({"removed": name})
    return 0


def _path(keys_file: str | None) -> Path:
    from indexer.errors import BadSetting
    from indexer.settings import load_settings

    found = load_settings(keys_file=keys_file).keys_file
    if not found:
        raise BadSetting("no keys_file is set", fix="give --keys-file FILE, or set PHRASECOM_KEYS_FILE")
    return Path(found)
