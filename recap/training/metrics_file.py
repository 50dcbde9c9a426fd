"""metrics.jsonl: one line for each finished epoch, readable without torch."""

import json
from pathlib import Path
from typing import Any, Final

METRICS: Final = "metrics.jsonl"


def read_metrics(path: Path) -> list[dict[str, Any]]:
    """All whole lines of a metrics.jsonl; a last line cut off by a crash is left out."""
    if not path.is_file():
        return []
    lines = path.read_text(encoding="utf-8").split("\n")
    return [json.loads(line) for line in lines[:-1]]
