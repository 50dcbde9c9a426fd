"""What a picture of page elements says, and what clicks on it bring."""

from analysis.figures.elements import PICK, Element


def words_in(drawn: Element) -> list[str]:
    """Every text of a picture, in reading order."""
    return [text for child in drawn[2:] for text in ([child] if isinstance(child, str) else words_in(child))]


def picks_in(drawn: Element) -> list[str]:
    """What clicks on a picture can return, in reading order."""
    here = [drawn[1][PICK]] if PICK in drawn[1] else []
    return here + [pick for child in drawn[2:] if not isinstance(child, str) for pick in picks_in(child)]
