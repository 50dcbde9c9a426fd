"""`recap curves`: what a model learned, feature by feature."""

from rich.box import SIMPLE_HEAD
from rich.markup import escape
from rich.table import Table

from analysis.formatting import signed_points
from app.cli.console import JsonFlag, console, print_json
from app.cli.options import CheckpointArgument, DataOption


def curves(checkpoint: CheckpointArgument, data: DataOption, as_json: JsonFlag = False) -> None:
    """Show the learned curves: points of each feature at its knots."""
    from analysis.explain.curves import learned_curves
    from recap.predictor import Predictor

    found = learned_curves(Predictor.load(checkpoint, data))
    if as_json:
        print_json({"curves": [curve.model_dump(mode="json") for curve in found]})
        return
    table = Table(title="Learned curves", title_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    for name in ("group", "feature", "unit", "from", "to", "lowest", "highest"):
        table.add_column(name, justify="left" if name in ("group", "feature", "unit") else "right")
    group = ""
    for curve in sorted(found, key=lambda curve: list(dict.fromkeys(each.group for each in found)).index(curve.group)):
        table.add_row(
            "" if curve.group == group else curve.group,
            escape(curve.name),
            escape(curve.unit),
            f"{curve.amounts[0]:,.3g}",
            f"{curve.amounts[-1]:,.3g}",
            signed_points(min(curve.points)),
            signed_points(max(curve.points)),
        )
        group = curve.group
    console.print(table)
