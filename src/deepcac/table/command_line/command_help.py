"""How a command is called: its options under headings, and none of them twice without a word."""

from collections import Counter
from typing import Any

import typer
from typer.core import TyperCommand

TABLE, QUESTION, EFFORT, OUTPUT = PANELS = ("The table", "The question", "The effort", "The output")
_OTHER = "Other"
# Options that the description of a table has replaced, and its lines.
_DESCRIBED = {
    "--decimal": "decimalChar of the field",
    "--sheet": "sheetName of the dialect",
    "--keep-word": "missingValues",
    "--missing": "missingValues",
    "--category": "type: string of the field",
    "--number": "type: number of the field",
    "--drop": "leave_out",
    "--id": "id",
    "--group": "patient",
    "--positive": "event of the outcome",
    "--above": "above of the outcome",
    "--time": "time of the outcome",
    "--horizon": "horizon of the outcome",
    "--competing": "competing of the outcome",
}
# Options that went without one.
_GONE = {
    "--margin": "differences in AUROC of up to 0.01 count as negligible",
    "--rows": "of more than 20,000 rows a sample is used",
    "--train-rows": "models learn from at most 10,000 rows at a time",
    "--card": "the card is written beside the page or the model",
    "--accept-unseen": "leave the column out in the description",
}
RETIRED = {
    name: f"is now {line} in the description of the table, which deepcac profile writes"
    for name, line in _DESCRIBED.items()
} | {name: f"is no option any more: {line}" for name, line in _GONE.items()}


class GroupedCommand(TyperCommand):
    """A command whose help has a heading for each kind of option (`rich_help_panel`).

    An option that takes one value is refused if it is given twice; the last would count silently.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse what was typed."""
        wrong_use: Any = typer.BadParameter.__base__
        names = {name for param in self.get_params(ctx) for name in param.opts}
        for word in args:
            name = word.partition("=")[0]
            if name in RETIRED.keys() - names:
                raise wrong_use(f"{name} {RETIRED[name]}", ctx)
        _, _, order = self.make_parser(ctx).parse_args(args=list(args))
        for param, times in Counter(order).items():
            if times > 1 and param.param_type_name == "option" and not param.multiple:
                more = ", its columns joined by commas" * (param.name == "by")
                raise wrong_use(f"{param.opts[0]} is given {times} times; give it once{more}", ctx)
        return super().parse_args(ctx, args)

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
