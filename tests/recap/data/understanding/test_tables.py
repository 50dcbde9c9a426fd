"""Tables of your own in many spellings: each is understood without a hint, and never read as something else."""

from pathlib import Path

import numpy as np
import pytest

from recap import columns as c
from recap.data.reading import read_checkins, understand
from tests.recap.data.understanding.tables import EXAMPLES, ROWS, ZONE, Example, checkins


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_it_is_understood(example: Example, tmp_path: Path) -> None:
    """Columns, rows, coordinates and every instant; where the file names no zone, that of the place is proposed."""
    path = tmp_path / example.name
    example.write(path)
    found = understand(path)
    assert found.options.columns == example.mapping
    options = found.options
    if example.times == "named":
        assert found.question is None
    else:
        assert found.question.about == "timezone"
        options = next(iter(found.question.answers.values()))
        assert (options.timezone, options.local_times) == (ZONE, example.times == "local")
    read = read_checkins(path, found.source_format, options)
    truth = checkins()
    assert read.account.rows_in == read.account.rows_kept == ROWS
    np.testing.assert_allclose(read.table[[c.LATITUDE, c.LONGITUDE]], truth[["lat", "lon"]])
    assert (read.table[c.TIME].to_numpy() == truth["utc"].dt.floor(example.unit).to_numpy()).all()
    assert read.table[c.TZ_OFFSET_MINUTES].tolist() == truth["minutes"].tolist()
