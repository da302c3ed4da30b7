"""The help of a command: options under headings, sentences that are not cut off."""

from typing import Any

from typer.core import TyperCommand

TABLE, QUESTION, EFFORT, OUTPUT = PANELS = ("The table", "The question", "The effort", "The output")
_OTHER = "Other"


class GroupedCommand(TyperCommand):
    """A command whose help has a heading for each kind of option (`rich_help_panel`)."""

    def get_short_help_str(self, limit: int = 45) -> str:
        """Return the first paragraph of the help, whole; a list of commands breaks its lines."""
        return " ".join((self.short_help or self.help or "").strip().split("\n\n")[0].split())

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
