"""The sanity report as the table that the command line, the model card and documents show."""

from typing import Final

from analysis.explain.sanity import SanityReport, describe_sanity

COLUMNS: Final = ("row", "cases", "same sign in all seeds", "better than placebo", "one person's trips", "holds")


RELIABILITY_COLUMNS: Final = ("temperature", "share of the first place", "cases", "mean share", "right")


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


def sanity_markdown(report: SanityReport, model: str = "") -> str:
    """A section of a model card.

    Args:
        model: ends the heading, where a card has such sections of several models.
    """
    lines = [f"## Do the explanations hold? {model}".rstrip(), ""]
    lines += ["| " + " | ".join(COLUMNS) + " |", "|---|" + "---:|" * (len(COLUMNS) - 1)]
    lines += ["| " + " | ".join(cells) + " |" for cells in table_rows(report)]
    return "\n".join([*lines, "", "\n\n".join(describe_sanity(report)), "", *_reliability_lines(report), ""])


def reliability_rows(report: SanityReport) -> list[tuple[str, ...]]:
    """One line for each bin of shares that holds a case, as they are shown and at the fitted temperature."""
    rows: list[tuple[str, ...]] = []
    for entry in report.reliability.bins:
        if entry.n and entry.share is not None and entry.right is not None:
            span = f"{entry.low:.1f} to {entry.high:.1f}"
            rows.append((f"{entry.temperature:.2f}", span, f"{entry.n:,}", f"{entry.share:.3f}", f"{entry.right:.3f}"))
    return rows


def _reliability_lines(report: SanityReport) -> list[str]:
    lines = ["| " + " | ".join(RELIABILITY_COLUMNS) + " |", "|---:|---|" + "---:|" * (len(RELIABILITY_COLUMNS) - 2)]
    return lines + ["| " + " | ".join(cells) + " |" for cells in reliability_rows(report)]


def _share(value: float | None, n: int) -> str:
    if value is None:
        return "seeds not measured" if n else "–"
    return f"{value:.3f}"
