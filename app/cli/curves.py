"""`recap curves`: what a model learned, feature by feature, and what each group of features is worth."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from rich.markup import escape
from rich.table import Table

from analysis.formatting import signed, signed_points
from app.cli.console import console, rich_table, say_what_is_new, steps_progress
from app.cli.options import CheckpointArgument, DataOption, GivenTimeOption, answers

if TYPE_CHECKING:
    import pandas as pd

    from analysis.explain.curves import Curve
    from analysis.workspace import Workspace

_LEFT: Final = ("group", "feature", "unit", "without", "among")


@answers
def curves(checkpoint: CheckpointArgument, data: DataOption, given_time: GivenTimeOption = False) -> Iterator[Any]:
    """Show the learned curves, and the accuracy lost without each part."""
    from analysis.explain import model_words
    from analysis.explain.curves import describe_learned, learned_numbers
    from analysis.workspace import Workspace

    opened = Workspace.open(data, checkpoint, given_time=given_time)
    learned, numbers, worth = describe_learned(opened.predictor), learned_numbers(opened.predictor), _worth(opened)
    say_what_is_new(opened.match)
    yield learned.model_dump(mode="json") | {"numbers": numbers, "worth": worth.to_dict(orient="records")}
    if learned.learned_on:
        console.print(f"Learned in {learned.learned_on}.", markup=False)
    console.print(_curve_table(learned.curves))
    if numbers:
        console.print(f"Learned: {model_words.number_words(numbers)}.")
    table = rich_table(
        "Lost without each part, ranked again", "among", "without", "HR@20", "95 %", "MRR", "95 %", left=_LEFT
    )
    for row in worth.to_dict(orient="records"):
        hr, mrr = (f"{signed(row[f'{name}_low'])} to {signed(row[f'{name}_high'])}" for name in ("hr", "mrr"))
        table.add_row(f"{row['among']} places", str(row["label"]), signed(row["hr"]), hr, signed(row["mrr"]), mrr)
    console.print(table)


def _worth(opened: "Workspace") -> "pd.DataFrame":
    from analysis.records.causes import worth_by_kind
    from recap import columns as c

    with steps_progress("Running the ablations") as report:
        table = opened.ablations(report)
    return worth_by_kind(table, opened.cases[c.USER].to_numpy())


def _curve_table(curves: "list[Curve]") -> Table:
    from analysis.explain.model_words import curve_label, shown_amount, shown_unit

    table = rich_table("Learned curves", "group", "feature", "unit", "from", "to", "lowest", "highest", left=_LEFT)
    groups: dict[str, list[Curve]] = {}
    for curve in curves:
        groups.setdefault(curve.group, []).append(curve)
    for group, members in groups.items():
        for number, curve in enumerate(members):
            table.add_row(
                "" if number else group,
                escape(curve_label(curve.name)),
                escape(shown_unit(curve.name, curve.unit)),
                f"{shown_amount(curve.name, curve.amounts[0]):,.3g}",
                f"{shown_amount(curve.name, curve.amounts[-1]):,.3g}",
                signed_points(min(curve.points)),
                signed_points(max(curve.points)),
            )
    return table
