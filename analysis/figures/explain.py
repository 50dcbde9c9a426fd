"""Pictures of one explanation: two-hop paths and visits over time."""

from collections.abc import Sequence
from typing import Final

from analysis.explain.explanation import CaseExplanation
from analysis.explain.types import PathTerms
from analysis.figures.elements import Element, element, share
from analysis.figures.palette import Palette, translucent
from analysis.formatting import days
from recap.machine.printable import shortened

_LONGEST_NAME: Final = 24
_MOST_PATHS: Final = 5
"""Paths drawn; the table lists all."""
_PATH_PX: Final = 52
_EDGES_PX: Final = 60
_SOURCE, _TARGET = 0.12, 0.88
"""Where the two ends lie, as shares of the width."""
VISITS_PX: Final = 140


def paths_height(num_paths: int) -> int:
    """Height of the picture in pixels."""
    return _EDGES_PX + _PATH_PX * min(max(num_paths, 1), _MOST_PATHS)


def draw_paths(explanation: CaseExplanation, palette: Palette, *, cut: Sequence[PathTerms] = ()) -> Element:
    """Source, middle places and target, strongest path on top; a click on a middle place returns its POI.

    Paths that edits cut are dashed.
    """
    gone = {path.middle for path in cut}
    paths = sorted([*explanation.paths, *cut], key=lambda path: -path.product)[:_MOST_PATHS]
    height = paths_height(len(paths))
    lines, words = [], []
    for number, path in enumerate(paths):
        y = _EDGES_PX / 2 + _PATH_PX * (number + 0.5)
        is_cut = path.middle in gone
        # 1000 units span the picture's width.
        curve = f"M {1000 * _SOURCE} {height / 2} Q 260 {y} 500 {y} Q 740 {y} {1000 * _TARGET} {height / 2}"
        look = {
            "fill": "none",
            "stroke": palette.quiet if is_cut else translucent(palette.paths.fill, 0.55),
            "stroke_width": f"{1.5 if is_cut else 1.5 + 11 * path.share:.1f}px",
            "stroke_dasharray": "3 4" if is_cut else "none",
            "vector_effect": "non-scaling-stroke",
        }
        lines.append(element("path", d=curve, style=look))
        level = (height / 2 + 3 * y) / 4
        counts = ((0.3, path.count_in, path.total_in), (0.7, path.count_out, path.total_out))
        small = {"color": palette.quiet, "font_size": "12px", "background": palette.page}
        words += [_word(x, level, f"{count:,} of {total:,}", **small) for x, count, total in counts]
        words.append(_middle(path, y, palette, is_cut=is_cut))
    goal = palette.of_role(explanation.roles[0])
    ends = (
        (_SOURCE, explanation.source_name, palette.ink, palette.ink, palette.ink),
        (_TARGET, explanation.target_name, goal.fill, palette.page, goal.text),
    )
    for x, name, rim, inside, colour in ends:
        disc = {"width": "10px", "height": "10px", "border": f"4px solid {rim}", "border_radius": "50%"}
        words.append(_word(x, height / 2, "", **disc, background=inside))
        named = {"color": colour, "background": translucent(palette.page, 0.85), "width": "max-content"}
        below = {"max_width": "24%", "transform": "translateX(-50%)"}
        words.append(_word(x, height / 2 + 13, shortened(name, _LONGEST_NAME), **named, **below))
    drawing = element(
        "svg",
        *lines,
        viewBox=f"0 0 1000 {height}",
        preserveAspectRatio="none",
        aria_hidden="true",
        style={"position": "absolute", "width": "100%", "height": "100%"},
    )
    return element("div", drawing, *words, style={"position": "relative", "height": f"{height}px"})


def _word(x: float, y: float, text: str, **look: object) -> Element:
    """Text centred at a share of the width and pixels from the top."""
    placed = {"position": "absolute", "left": share(x), "top": f"{y:g}px", "transform": "translate(-50%, -50%)"}
    return element("div", text, style=placed | {"text_align": "center"} | look)


def _middle(path: PathTerms, y: float, palette: Palette, *, is_cut: bool) -> Element:
    fill = palette.quiet if is_cut else palette.paths.fill
    disc = {"display": "block", "width": "14px", "height": "14px", "border_radius": "50%", "margin": "3px auto 0"}
    name = shortened(path.name, _LONGEST_NAME)
    button = element(
        "button",
        name,
        element("span", style=disc | {"background": fill, "border": f"2px solid {palette.page}"}),
        type="button",
        title="Click to bring it back" if is_cut else "Click to cut this path",
        data_pick=str(path.middle),
        style={"font_weight": 700, "text_align": "center"},
    )
    placed = {"position": "absolute", "left": "50%", "top": f"{y:g}px", "transform": "translate(-50%, -29px)"}
    return element("div", button, style=placed | {"white_space": "nowrap"})


def draw_visits(explanation: CaseExplanation, palette: Palette) -> Element:
    """Timelines of the target and the runner-up; one dot per visit, with now at the right."""
    start = max(explanation.first_days_ago, 1e-3)
    hues = [palette.of_role(role) for role in explanation.roles]
    rows = []
    for place, hue in zip(explanation.visits, hues, strict=True):
        dot: dict[str, object] = {
            "position": "absolute",
            "top": "-8px",
            "width": "13px",
            "height": "13px",
            "border_radius": "50%",
        }
        dot |= {"background": palette.revisits.fill, "opacity": 0.75, "transform": "translateX(-50%)"}
        dots = [
            element(
                "span",
                title=visit.local_time.replace("T", " ")[:16],
                style=dot | {"left": share(1 - visit.days_ago / start)},
            )
            for visit in place.visits
        ]
        line = {"position": "relative", "border_top": f"3px solid {palette.grid}", "margin": "10px 8px 24px"}
        rows += [
            element("div", shortened(place.name, _LONGEST_NAME), style={"color": hue.text}),
            element("div", *dots, style=line),
        ]
    ends = {"display": "flex", "justify_content": "space-between", "color": palette.quiet}
    return element(
        "div", *rows, element("div", element("span", f"{days(start)} ago"), element("span", "now"), style=ends)
    )
