"""The one way from a file, a folder or a DataFrame to a dataset, which commands, the app and Python share."""

import tempfile
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Final

from recap.data.cleaning import DataConfig, data_preset
from recap.data.dataset import DATASET_MANIFEST, Dataset
from recap.data.inspection import dataset_card, find_problems
from recap.data.parsing.options import ReadOptions
from recap.data.preparation import Spool, choose_engine, prepare_dataset
from recap.data.reading import OWN_FORMATS, read_checkins, understand
from recap.data.understanding import Understanding
from recap.errors import DataError
from recap.storage.artifacts import check_target

READING: Final = "Reading every row"


def choose_protocol(
    source_format: str, preset: str | None = None, changes: Sequence[str] = ()
) -> tuple[str, DataConfig]:
    """The preset's name and the protocol, with changes such as ``min_user_checkins=5``. Without a preset your own table
    keeps every user and place, and a published format has ``default``. Raises ConfigError: an unknown preset or field.
    """
    preset = preset or ("every_place" if source_format in OWN_FORMATS else "default")
    return preset, data_preset(preset).override(list(changes))


def prepare_input(
    path: Path,
    source_format: str = "auto",
    options: ReadOptions | None = None,
    *,
    out: Path | None = None,
    name: str = "",
    preset: str | None = None,
    changes: Sequence[str] = (),
    engine: str = "auto",
    say: Callable[[str], None] = lambda line: None,
) -> tuple[Understanding, Dataset]:
    """Turn a file or folder into a dataset with its account and its problems, and save it where ``out`` is given; see
    `choose_protocol` and `choose_engine`. ``say`` receives what is done, a line each. Raises ConfigError: an unknown
    preset, field or engine; DataError: something is unsure, a row is bad, or nothing usable is left; FolderInUseError:
    ``out`` holds something else.
    """
    choose_protocol("", preset, changes)  # refuses before reading
    understood = understand(path, source_format, options)
    if understood.question is not None:
        raise DataError(understood.refusal())
    preset, config = choose_protocol(understood.source_format, preset, changes)
    if out is not None:
        check_target(out, DATASET_MANIFEST)
    is_on_disk = choose_engine(engine, path, understood.source_format)
    name = name or (path.name.partition(".")[0] if out is None else out.name)
    say(READING)
    spooled = Spool(Path(tempfile.gettempdir()) if out is None else out.parent) if is_on_disk else nullcontext()
    with spooled as spool:
        read = read_checkins(path, understood.source_format, understood.options, None if spool is None else spool.add)
        notes = [f"The column “{item.name}” is {item.reason}." for item in understood.columns if item.is_other_place]
        account = read.account.model_copy(update={"notes": [*read.account.notes, *notes]})
        problems = find_problems(read)
        say(f"Cleaning and splitting {account.rows_kept:,} check-ins")
        facts = {"source_format": understood.source_format, "preset": preset, "reading": account, "problems": problems}
        dataset = prepare_dataset(read.table if spool is None else spool, config, name=name, **facts)
    if out is not None:
        say("Writing the dataset")
        dataset.save(out, card=dataset_card(dataset))
    return understood, dataset
