"""Published archives of prepared splits: where they are, how their bytes are recognised, whom to cite."""

from dataclasses import dataclass
from typing import Final

from recap.errors import ConfigError

_YANG: Final = (
    "Yang, Zhang, Zheng, Yu: Modeling User Activity Preference by Leveraging User Spatial Temporal Characteristics in "
    "LBSNs. IEEE Transactions on Systems, Man, and Cybernetics: Systems 45(1), 129-142, 2015."
)
_CHO: Final = (
    "Cho, Myers, Leskovec: Friendship and Mobility: User Movement in Location-Based Social Networks. KDD 2011."
)
_GETNEXT: Final = (
    "Yang, Liu, Zhao: GETNext: Trajectory Flow Map Enhanced Transformer for Next POI Recommendation. SIGIR 2022."
)
_FOURSQUARE_TERMS: Final = (
    "Foursquare check-ins of real people, collected for research. Research use only; do not redistribute; the archive "
    "itself names no licence."
)
_GOWALLA_TERMS: Final = (
    "Gowalla check-ins of real people, published for research by the SNAP project. The archive itself names no licence."
)


@dataclass(frozen=True)
class Archive:
    """One downloadable zip file.

    Attributes:
        name: what the user types.
        title: what it is.
        url: where it is.
        git_blob: SHA-1 of the bytes as git hashes them (`git hash-object`).
        terms: what its owners allow, as far as they say.
        citations: whom to cite.
    """

    name: str
    title: str
    url: str
    git_blob: str
    terms: str
    citations: tuple[str, ...]


_BASE: Final = "https://github.com/ShiyinTan/GETNext/raw/HEAD/dataset"
ARCHIVES: Final = (
    Archive(
        "nyc",
        "New York City, Foursquare, April 2012 to February 2013, split by GETNext",
        "https://github.com/songyangme/GETNext/raw/HEAD/dataset/NYC.zip",
        "7b9bffe24d5c00c27753e67508d6e86e0ea8f41b",
        _FOURSQUARE_TERMS,
        (_YANG, _GETNEXT),
    ),
    Archive(
        "tky",
        "Tokyo, Foursquare, April 2012 to February 2013, split in GETNext's way",
        f"{_BASE}/TKY.zip",
        "128d3598e14801fb71319b9fd197efb4a50863ea",
        _FOURSQUARE_TERMS,
        (_YANG, _GETNEXT),
    ),
    Archive(
        "ca",
        "California and Nevada, Gowalla, February 2009 to October 2010, split in GETNext's way",
        f"{_BASE}/Gowalla-CA.zip",
        "160495348da65fc0674cacf22164f7124eddd97b",
        _GOWALLA_TERMS,
        (_CHO, _GETNEXT),
    ),
)


def find_archive(name: str) -> Archive:
    """The archive of a name.

    Raises:
        ConfigError: there is none.
    """
    for archive in ARCHIVES:
        if archive.name == name.lower():
            return archive
    raise ConfigError(f"no archive is called {name!r}; choose one of {', '.join(item.name for item in ARCHIVES)}")


def describe(archive: Archive) -> str:
    """Source, terms and citations as Markdown."""
    citations = "\n".join(f"- {citation}" for citation in archive.citations)
    return (
        f"# {archive.title}\n\nFrom {archive.url}\n(git blob {archive.git_blob}).\n\n{archive.terms}\n\n"
        f"Cite:\n\n{citations}\n"
    )
