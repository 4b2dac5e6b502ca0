"""Write the pages of docs/ that are generated from the code: settings and commands.

    python deploy/write_docs.py

A test fails if a page differs from what this would write.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import click

from indexer.cli.main import COMMANDS, cli
from indexer.settings import ENVIRONMENT_PREFIX, Settings, describe_allowed_values, describe_default

DOCS = Path(__file__).resolve().parent.parent / "docs"
PAGE_HEADER = "<!-- Made by `make docs`. Do not edit. -->\n\n"
WIDTH = 100

SETTINGS_HEAD = """# Settings

A value is taken from the first place that has one: an option on the command line, the environment,
the file `phrasecom.toml` (in the current folder, or where `PHRASECOM_CONFIG` points), the default.
A name or a value that is not allowed stops a command with one line that says so.

```toml
# phrasecom.toml
engine = "http://localhost:9200"
replicas = 1
```

| setting | environment | default | allowed | what it is |
| --- | --- | --- | --- | --- |
"""

SETTINGS_FOOT = """
Three variables are no settings: `PHRASECOM_CONFIG` names the file above, `PHRASECOM_CACHE` is where `make test` keeps
the Elasticsearch it puts together, and names that begin with `PHRASECOM_TEST_` belong to the tests.
"""

COMMANDS_HEAD = """# Commands

Every command takes `--json` (otherwise it prints a table) and `--debug`. Exit status: 0 done; 1 done in part, or what
was looked at is not well (records left out, ids that are not there, a check of `doctor` that fails); 2 it could not be
done; 130 interrupted. What could not be done is told in one line on stderr that names the fix; with `--json` that line,
the last, is an object `{"code": …, "detail": …, "fix": …}` with a code of [errors](errors.md), and stdout stays empty.

"""


def render_settings_page() -> str:
    """Return docs/settings.md: a table of all settings."""
    rows = [
        f"| `{name}` | `{ENVIRONMENT_PREFIX}{name.upper()}` | {_format_cell(describe_default(name))} "
        f"| {_format_cell(describe_allowed_values(name))} | {_format_cell(str(field.description))} |"
        for name, field in Settings.model_fields.items()
    ]
    return PAGE_HEADER + SETTINGS_HEAD + "\n".join(rows) + "\n" + SETTINGS_FOOT


def _format_cell(text: str) -> str:
    return re.sub(r"like (\S+)", r"like `\1`", text).replace("|", "\\|")


def render_commands_page() -> str:
    """Return docs/commands.md: the help of all commands."""
    parts = [_render_section("phrasecom", cli, None)]
    with _make_context("phrasecom", cli, None) as parent:
        for name in COMMANDS:
            command = cli.get_command(parent, name)
            assert command is not None
            parts.append(_render_section(f"phrasecom {name}", command, parent))
    return PAGE_HEADER + COMMANDS_HEAD + "\n".join(parts)


def _render_section(title: str, command: click.Command, parent: click.Context | None) -> str:
    """Return the help of a command, followed by that of its subcommands."""
    name = title.rpartition(" ")[2]
    context = _make_context(name, command, parent)
    text = f"## {title}\n\n```text\n{command.get_help(context)}\n```\n"
    if not isinstance(command, click.Group) or command is cli:
        return text
    subcommands = (command.get_command(context, sub) for sub in command.list_commands(context))
    return text + "".join("\n" + _render_section(f"{title} {sub.name}", sub, context) for sub in subcommands if sub)


def _make_context(name: str, command: click.Command, parent: click.Context | None) -> click.Context:
    """Return the context that the entry point would make, but of a fixed width."""
    settings: dict[str, Any] = {**command.context_settings, "terminal_width": WIDTH, "max_content_width": WIDTH}
    return click.Context(command, info_name=name, parent=parent, **settings)


PAGES = {"settings.md": render_settings_page, "commands.md": render_commands_page}


def main() -> None:
    for name, render_page in PAGES.items():
        (DOCS / name).write_text(render_page())


if __name__ == "__main__":
    main()
