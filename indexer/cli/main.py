"""The entry point ``phrasecom``: finds a command by name and imports only its module.

Exit status: 0 done; 1 done in part, or a check failed (records left out, unknown ids to delete, a check of ``doctor``);
2 it could not be done, and one line on stderr says why; 130 interrupted.
With ``--json`` that line is a JSON object: ``{"code", "detail", "fix"}``.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from dataclasses import dataclass
from itertools import takewhile
from typing import NamedTuple

import click

from indexer import __version__
from indexer.errors import BadRequest, PhraseComError

EXIT_FAILED, EXIT_INTERRUPTED = 2, 130


class CommandSpec(NamedTuple):
    """Module of a command, and its line in ``phrasecom --help``."""

    module: str
    help: str


COMMANDS: dict[str, CommandSpec] = {
    "index": CommandSpec("indexer.cli.index_commands", "Build an index from files, a folder or standard input."),
    "attach": CommandSpec("indexer.cli.attach", "Build an index from an existing Elasticsearch index."),
    "add": CommandSpec("indexer.cli.index_commands", "Add or replace documents."),
    "delete": CommandSpec("indexer.cli.index_commands", "Delete documents, or a whole index."),
    "refresh": CommandSpec("indexer.cli.index_commands", "Mine the phrases of an index again and start a new epoch."),
    "export": CommandSpec("indexer.cli.read_commands", "Write the graph or the documents of an index to a file."),
    "phrases": CommandSpec("indexer.cli.read_commands", "Show the phrases of an index or of a document."),
    "search": CommandSpec("indexer.cli.read_commands", "Search for documents."),
    "compare": CommandSpec("worker.cli", "Show which phrases two documents share and which set each apart."),
    "evaluate": CommandSpec("worker.evaluation.cli", "Measure the quality of methods and of mined phrases."),
    "bench": CommandSpec("worker.benchmark.cli", "Measure speed relative to baselines."),
    "feedback": CommandSpec("worker.cli", "Show user feedback on phrases."),
    "worker": CommandSpec("worker.cli", "Run a worker that computes the jobs of the service."),
    "serve": CommandSpec("webapi.cli", "Serve the HTTP API and the web pages."),
    "keys": CommandSpec("webapi.cli_keys", "Create, list and remove API keys of the service."),
    "demo": CommandSpec("webapi.cli", "Run everything on this machine, on Python docstrings."),
    "doctor": CommandSpec("indexer.cli.doctor", "Check the installation and say how to fix what does not work."),
}
"""Command name -> specification; static, so that listing the commands imports none of them.

The command is ``NAME_command`` in its module.
"""


@dataclass
class CliState:
    """Options of a command that the entry point needs."""

    debug: bool = False


@dataclass(frozen=True)
class CliError:
    """A failure as it is printed."""

    code: str
    detail: str
    fix: str = ""

    def format(self, as_json: bool) -> str:
        """Return one line, without secrets."""
        from indexer.logging_setup import redact

        detail, fix = (" ".join(redact(text).split()) for text in (self.detail, self.fix))
        if as_json:
            return json.dumps({"code": self.code, "detail": detail, "fix": fix}, ensure_ascii=False)
        return f"phrasecom: {detail}{' ' if detail.endswith('?') else '; '}{fix}" if fix else f"phrasecom: {detail}"


class LazyGroup(click.Group):
    """A group whose commands are imported when they are called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(COMMANDS[cmd_name].module)
        command = getattr(module, f"{cmd_name}_command")
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            from difflib import get_close_matches

            similar = get_close_matches(args[0], COMMANDS, n=1)
            hint = f"; did you mean {similar[0]}?" if similar else ""
            raise click.UsageError(f"no command {args[0]!r}{hint}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, spec.help) for name, spec in COMMANDS.items()])


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    help="Explain search results: the phrases two documents share and those that set each apart.",
    epilog="See phrasecom COMMAND --help for details and docs/settings.md for settings.",
)
@click.version_option(__version__, prog_name="phrasecom")
def cli() -> None:
    pass


def run(arguments: list[str]) -> int:
    """Run one command line and return its exit status; every failure is one line on stderr."""
    state, as_json = CliState(), "--json" in takewhile(lambda word: word != "--", arguments)

    def print_error(code: str, detail: str, fix: str = "", status: int = EXIT_FAILED) -> int:
        click.echo(CliError(code, detail, fix).format(as_json), err=True)
        return status

    try:
        status = cli.main(arguments, prog_name="phrasecom", standalone_mode=False, obj=state)
        return status if isinstance(status, int) else 0
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        return EXIT_FAILED
    except click.UsageError as error:
        hint = f"see {error.ctx.command_path} --help" if error.ctx else ""
        return print_error(BadRequest.code, error.format_message().rstrip("."), hint)
    except click.ClickException as error:
        return print_error(BadRequest.code, error.format_message())
    except (KeyboardInterrupt, click.Abort):
        return print_error("interrupted", "interrupted", status=EXIT_INTERRUPTED)
    except BrokenPipeError:
        # The reader of our output has closed it; the rest of the buffer must not raise again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except PhraseComError as error:
        if state.debug:
            raise
        return print_error(error.code, error.detail, error.fix)
    except Exception as error:  # last resort: users never see a stack trace
        if state.debug:
            raise
        detail = f"internal error: {type(error).__name__}: {error}"
        return print_error(PhraseComError.code, detail, "run it again with --debug for a stack trace")


def main() -> None:
    """Run the command line of this process and exit."""
    sys.exit(run(sys.argv[1:]))
