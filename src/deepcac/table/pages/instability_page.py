"""The page of `deepcac fit --bootstrap`: optimism, and how far risks move between refits."""

from matplotlib.figure import Figure as Canvas

from deepcac.pages.figures import PALETTE, Figure
from deepcac.pages.sections import Section
from deepcac.pages.tables import Table
from deepcac.table.answer import Answer
from deepcac.table.budgeted_trials import TableRun
from deepcac.table.inference.labelled_table import LabelledTable
from deepcac.table.optimism import SCORES, Optimism
from deepcac.table.output_files import StrPath
from deepcac.table.pages.page_sections import Page, method_section, write_page

_HEAD = ("score", "apparent", "optimism", "corrected")


def write_instability_page(
    path: StrPath,
    table: LabelledTable,
    model: str,
    optimism: Optimism,
    refits: int,
    run: TableRun,
) -> None:
    """Write the page; `model` is what the model is in words, `refits` how many there were."""
    auroc = optimism.scores["auroc"]
    answer = Answer(
        f"The AUROC is {auroc['corrected']:.3f} after correction for optimism "
        f"({auroc['apparent']:.3f} before). A patient's risk moves by "
        f"{100 * optimism.moves:.1f} percentage points on average from one draw of patients to "
        "another."
    )
    about = f"{table.name}; the event is {table.shown_classes[1]}; the model: {model}"
    method = [
        f"{refits} times patients were drawn with replacement, as many as there are. Each time "
        "the whole choice was made again on folds of these (copies of a patient share a fold), "
        "and the model was fitted anew.",
        "Optimism: Harrell, Lee and Mark 1996. Corrected scores have no interval. Instability: "
        "Riley and Collins 2023; groups of at least ten patients stand for single ones.",
    ]
    sections = [
        Section("answer", "Answer", [instability_figure(optimism), about]),
        Section(
            "optimism",
            "Optimism",
            [
                "Apparent: on the patients that made the model. Optimism: how much better a refit "
                "looks on its own patients than on those of the table. Corrected: apparent less "
                "optimism.",
                Table.of_texts("optimism", "Optimism", _HEAD, optimism_rows(optimism)),
            ],
        ),
        method_section(method, "How it was made"),
    ]
    title = f"How stable is the risk model of {table.name}?"
    write_page(path, Page(title, answer, sections, run.command), exact=run.exact)


def optimism_rows(optimism: Optimism) -> list[tuple[str, ...]]:
    """Return a line per score, as on the page and on the card."""
    return [
        (
            text,
            *(
                f"{optimism.scores[name][kind]:z.3f}"
                for kind in ("apparent", "optimism", "corrected")
            ),
        )
        for name, text in SCORES.items()
    ]


def instability_figure(optimism: Optimism) -> Figure:
    """Draw between which ends the risks of refits lie, and how far they are off on average."""
    risk, low, high, away = optimism.band.T

    def draw(canvas: Canvas) -> None:
        axis = canvas.subplots()
        axis.axline((0, 0), slope=1, color="#888888", linewidth=0.8, linestyle=":")
        axis.fill_between(
            risk, low, high, color=PALETTE[0], alpha=0.2, linewidth=0, label="95 % of the refits"
        )
        axis.plot(risk, risk, color=PALETTE[0], marker="o", markersize=3, label="the model")
        axis.plot(risk, away, color=PALETTE[1], linestyle="--", label="mean absolute difference")
        axis.set(xlabel="risk by the model", ylabel="risk by refits", xlim=(0, None), ylim=(0, 1))
        axis.legend(loc="upper left")

    return Figure(
        id="instability",
        title="How far does a patient's risk move?",
        caption="Patients in groups of equal size by their risk: between which ends 95 % of the "
        "risks lie that refits on other samples of the patients give them.",
        section="answer",
        size=(5.6, 4.4),
        draw=draw,
        head=("risk", "low", "high", "mean_absolute_difference"),
        data=[tuple(map(float, line)) for line in optimism.band],
    )
