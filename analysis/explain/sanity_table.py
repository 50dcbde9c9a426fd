"""The sanity report as the table that the command line, the model card and documents show."""

from typing import Final

from analysis.explain.sanity import SanityReport, describe_sanity

COLUMNS: Final = ("row", "cases", "same sign in all seeds", "better than placebo", "one person's trips", "holds")


def table_rows(report: SanityReport) -> list[tuple[str, ...]]:
    """One line for each row of explanations; what was not measured says so."""
    return [
        (
            row.label,
            f"{row.n:,}",
            _share(row.same_sign, row.n),
            _share(row.better_than_placebo, row.n),
            _share(row.one_person, row.n),
            _share(row.holds, row.n),
        )
        for row in report.rows
    ]


def sanity_markdown(report: SanityReport) -> str:
    """A section of a model card."""
    lines = ["## Do the explanations hold?", ""]
    lines += ["| " + " | ".join(COLUMNS) + " |", "|---|" + "---:|" * (len(COLUMNS) - 1)]
    lines += ["| " + " | ".join(cells) + " |" for cells in table_rows(report)]
    return "\n".join([*lines, "", *describe_sanity(report), ""])


def _share(value: float | None, n: int) -> str:
    if value is None:
        return "seeds not measured" if n else "–"
    return f"{value:.3f}"
