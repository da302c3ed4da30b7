"""The help of a command: options under headings, sentences that are not cut off."""

from typing import Any

from typer.core import TyperCommand, TyperGroup

TABLE, QUESTION, EFFORT, OUTPUT = PANELS = ("The table", "The question", "The effort", "The output")
_OTHER = "Other"


class GroupedCommand(TyperCommand):
    """A command whose help has a heading for each kind of option (`rich_help_panel`)."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write arguments and options under their headings, in the order of `PANELS`."""
        sections: dict[str, list[tuple[str, str]]] = {name: [] for name in (*PANELS, _OTHER)}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record is None:
                continue
            argument = param.param_type_name == "argument"
            panel = getattr(param, "rich_help_panel", None) or (TABLE if argument else _OTHER)
            sections.setdefault(panel, []).append(record)
        for name, records in sections.items():
            if records:
                with formatter.section(name):
                    formatter.write_dl(records)


class WholeSentences(TyperGroup):
    """A group of commands whose help gives the first paragraph of each, all of it."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write every command that is not hidden with what it does."""
        named = ((name, self.get_command(ctx, name)) for name in self.list_commands(ctx))
        rows = [
            (name, _first_paragraph(command.short_help or command.help or ""))
            for name, command in named
            if command is not None and not command.hidden
        ]
        if rows:
            with formatter.section("Commands"):
                formatter.write_dl(rows)


def _first_paragraph(text: str) -> str:
    return " ".join(text.strip().split("\n\n")[0].split())
