"""A full explanation in lines: every number is the explanation's, long lists say what they leave out."""

from analysis.explain.explanation import FullExplanation, explain_fully
from analysis.formatting import signed
from analysis.report.text import MOST_LINES, describe_fully
from tests.analysis.planted import small_predictor


def explanation(**options: object) -> FullExplanation:
    """The first small case with paths, visits and more items than are shown."""
    predictor = small_predictor()
    found = (explain_fully(predictor, number, **options) for number in range(len(predictor.cases)))  # type: ignore[arg-type]
    return next(
        e
        for e in found
        if e.path_evidence and e.revisits[0].visits and e.leave_one_out and len(e.leave_one_out) > MOST_LINES
    )


def test_every_part_is_there_with_its_numbers() -> None:
    """Paths with the rank if cut, visits, what each item alone means, the margin, and the sentences."""
    told = explanation()
    assert told.leave_one_out is not None
    lines = list(describe_fully(told))
    path, first, last = told.path_evidence[0], told.leave_one_out[0], told.revisits[0].visits[-1]
    assert path.recounted_in is not None
    cut = next(line for line in lines if line.startswith(f"  via {path.name}:"))
    assert f"first half recounted {path.recounted_in.rank:g}" in cut
    assert f"{len(path.rows_in.times) + len(path.rows_out.times)} training rows" in cut
    assert any(f"last {last.local_time.replace('T', ' ')}, {last.steps_ago} check-ins ago" in line for line in lines)
    without = f"  {first.item.label}: rank {first.outcome.rank:g}, score {signed(first.outcome.logit_change, 2)}"
    if first.masked is not None:
        without += f" (its token alone masked: rank {first.masked.rank:g})"
    assert without in lines
    assert f"  and {len(told.leave_one_out) - MOST_LINES} more; --json has them all" in lines
    split = told.contrast
    assert any(
        line.startswith(f"{split.a.name} against {split.b.name}: {signed(split.margin, 2)} = ") for line in lines
    )
    assert " ".join(sentence.text for sentence in told.sentences) in lines
    assert not any("reversed by" in line for line in lines)


def test_what_was_asked_for_is_told_too() -> None:
    """The search's answer, where it was run."""
    told = explanation(search=True)
    lines = "\n".join(describe_fully(told))
    assert ("reversed by" in lines) is (told.contrast.flip is not None)
    assert ("single edits reverses it" in lines) is (told.contrast.flip is None)
