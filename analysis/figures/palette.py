"""One colour per meaning, light and dark (based on Okabe-Ito). The theme file repeats these values."""

from dataclasses import dataclass
from typing import Final, Literal

from analysis.explain.types import MarkKind, Role

Theme = Literal["light", "dark"]


@dataclass(frozen=True)
class Hue:
    """A meaning's colour.

    Attributes:
        fill: for marks.
        text: for words, at least 4.5:1 on the page.
        chip: background of a badge.
    """

    fill: str
    text: str
    chip: str


@dataclass(frozen=True)
class Palette:
    """Every colour a figure may use.

    Attributes:
        model: predictions.
        truth: the real next place.
        revisits: the user's own past.
        paths: two hops and the graph token.
        baseline: counting baselines and the core score.
        page: background of the page.
        band: background of the tail, always a grey.
        head, tail: greys of head and tail.
    """

    theme: Theme
    model: Hue
    truth: Hue
    revisits: Hue
    paths: Hue
    baseline: str
    ink: str
    quiet: str
    grid: str
    page: str
    band: str
    head: str
    tail: str
    unseen: str
    water: str
    land: str
    district: str
    park: str
    street: str
    road: str
    road_casing: str
    shore: str

    def density(self, level: int) -> str:
        """Colour of dense areas, level 1 to 3."""
        return mix(self.quiet, self.land, 0.055 * level)

    def of_role(self, role: Role | MarkKind) -> Hue:
        if role == "other":
            return Hue(self.baseline, self.quiet, self.band)
        if role == "source":
            return Hue(self.ink, self.ink, self.band)
        return {"truth": self.truth, "model": self.model, "middle": self.paths}[role]

    def of_mark(self, kind: MarkKind) -> tuple[str | None, str]:
        """Fill (None for a ring) and rim of a place on a map."""
        fill = self.of_role(kind).fill
        return (None, fill) if kind == "truth" else (fill, self.land)


LIGHT: Final = Palette(
    theme="light",
    model=Hue("#0072B2", "#005A8D", "#E2EFF6"),
    truth=Hue("#C8500A", "#A84005", "#FBEADF"),
    revisits=Hue("#9E3A74", "#8E3768", "#F6E6EF"),
    paths=Hue("#009E73", "#00684B", "#DFF1EB"),
    baseline="#A4AFB5",
    ink="#1F2A30",
    quiet="#5E6B73",
    grid="#E7E5E0",
    page="#FFFFFF",
    band="#EDEFF0",
    head="#DCE2E4",
    tail="#485257",
    unseen="#8E989D",
    water="#DCE6EA",
    land="#F7F5F1",
    district="#F2EFE9",
    park="#E3E9DC",
    street="#E9E5DD",
    road="#FFFFFF",
    road_casing="#DDD8CE",
    shore="#C9D3D6",
)

_READABLE: Final = 4.5
"""Contrast of small text (WCAG AA)."""
DARK: Final = Palette(
    theme="dark",
    model=Hue("#56B4E9", "#8CCBF0", "#17313F"),
    truth=Hue("#FF9352", "#FFB081", "#3D281B"),
    revisits=Hue("#F0B8D6", "#F0B8D6", "#3A2833"),
    paths=Hue("#00B583", "#74DDBA", "#163529"),
    baseline="#6F7D86",
    ink="#E8ECEE",
    quiet="#9CA9B1",
    grid="#2A343B",
    page="#12181D",
    band="#1D262C",
    head="#33404A",
    tail="#B7C2C8",
    unseen="#76848C",
    water="#0E151B",
    land="#1B2228",
    district="#1E262C",
    park="#1C2A26",
    street="#262F36",
    road="#36424B",
    road_casing="#161C21",
    shore="#2C3841",
)


def palette_of(theme: str | None) -> Palette:
    """The palette of a theme's name; light for anything but ``dark``."""
    return DARK if theme == "dark" else LIGHT


def rgb(colour: str, alpha: int = 255) -> list[int]:
    """A hex colour for deck.gl.

    >>> rgb("#0072B2", 200)
    [0, 114, 178, 200]
    """
    return [*(int(colour[i : i + 2], 16) for i in (1, 3, 5)), alpha]


def translucent(colour: str, opacity: float) -> str:
    """A hex colour as rgba text for plotly."""
    red, green, blue, _ = rgb(colour)
    return f"rgba({red},{green},{blue},{opacity:g})"


def contrast(first: str, second: str) -> float:
    """WCAG contrast ratio of two hex colours, 1 to 21.

    >>> round(contrast("#FFFFFF", "#000000"), 1)
    21.0
    """
    light, dark = sorted((_luminance(first), _luminance(second)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def ink_on(ground: str, palette: Palette) -> str:
    """Ink or page colour, whichever contrasts more with the background; black or white where neither can be read.

    >>> ink_on("#3F7FA3", DARK), ink_on("#FFFFFF", LIGHT)
    ('#000000', '#1F2A30')
    """
    best = max((palette.ink, palette.page), key=lambda colour: contrast(colour, ground))
    if contrast(best, ground) >= _READABLE:
        return best
    return max(("#000000", "#FFFFFF"), key=lambda colour: contrast(colour, ground))


def mix(first: str, second: str, share: float) -> str:
    """``share`` of the first colour over the second.

    >>> mix("#FFFFFF", "#000000", 0.5)
    '#808080'
    """
    pairs = zip(rgb(first)[:3], rgb(second)[:3], strict=True)
    return "#" + "".join(f"{round(a * share + b * (1 - share)):02X}" for a, b in pairs)


def _luminance(colour: str) -> float:
    channels = [value / 255 for value in rgb(colour)[:3]]
    linear = [value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
