"""``phrasecom evaluate``: the group of commands that measure quality."""

from __future__ import annotations

import click

from worker.evaluation.editor_lists.editor_command import editor_command
from worker.evaluation.method_commands import all_command, keywords_command, masked_command
from worker.evaluation.model_commands import fidelity_command, phrases_command
from worker.evaluation.query_commands import queries_command


@click.group("evaluate")
def evaluate_command() -> None:
    """Measure quality: methods on author keywords, masked phrases and an editor's lists, reasons for the hits of
    queries, mined phrases against human judgements."""


for _command in (
    *(keywords_command, masked_command, editor_command, queries_command),
    *(phrases_command, fidelity_command, all_command),
):
    evaluate_command.add_command(_command)
