"""The font of pictures: Streamlit's own Source Sans, which has accents, arrows and the true minus."""

from importlib.util import find_spec
from pathlib import Path


def picture_font() -> Path | None:
    """The font file if this Streamlit has it; otherwise pictures use plain letters."""
    spec = find_spec("streamlit")
    if spec is None or spec.origin is None:
        return None
    media = Path(spec.origin).parent / "static" / "static" / "media"
    return next(iter(sorted(media.glob("SourceSansVF-Upright*.woff2"))), None)
