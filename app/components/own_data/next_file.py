"""Add a file, such as the next month's, to a dataset that was prepared here, with the same answers."""

from dataclasses import replace
from pathlib import Path

import streamlit as st

from app import address
from app.components.own_data import words
from app.pages import OPEN_DATA
from app.sources import Source
from app.uploads import LARGEST_MB, keep_copy, new_dataset_folder
from recap.asking.extension import extend_dataset
from recap.data.dataset import Dataset
from recap.data.inspection import dataset_card
from recap.data.parsing.options import ReadOptions
from recap.data.reading import read_understood
from recap.errors import ConfigError, RecapError
from recap.machine.printable import markdown_text
from recap.storage.atomic import replace_json
from recap.storage.json_text import read_json
from recap.storage.user_folder import user_subfolder


def keep_answers(dataset_hash: str, options: ReadOptions) -> None:
    """Keep how a dataset's file was read, for further files."""
    user_subfolder("answers", make=True)
    replace_json(_answers_of(dataset_hash), options.model_dump(mode="json"))


def add_file(source: Source) -> Path | None:
    """Offer to add a file; the folder of the dataset with its check-ins once they were added."""
    try:
        options = ReadOptions.parse(read_json(_answers_of(source.dataset_hash)))
    except (OSError, ValueError, ConfigError):
        return None  # prepared elsewhere
    file = st.file_uploader(words.ADD_FILE, max_upload_size=LARGEST_MB, key=f"add-{source.token}", help=words.ADDING)
    if file is None:
        return None
    upload = keep_copy(file.name, file)
    try:
        read = read_understood(upload.path, "auto", options)
        stored = Dataset.load(source.dataset_folder)
        grown, added = extend_dataset(stored, read.table)
        if len(grown.checkins) == len(stored.checkins) + (0 if stored.unseen is None else len(stored.unseen)):
            st.error(markdown_text(added))  # the same file again
            return None
        with new_dataset_folder(source.name) as folder:
            dataset = replace(grown, manifest=grown.manifest.model_copy(update={"name": folder.name}))
            dataset.save(folder, card=dataset_card(dataset))
    except RecapError as error:
        st.error(markdown_text(str(error)))
        return None
    finally:
        upload.discard()
    keep_answers(dataset.hash, options)
    address.leave_note(OPEN_DATA.name, markdown_text(added))
    return folder


def _answers_of(dataset_hash: str) -> Path:
    return user_subfolder("answers") / f"{dataset_hash[:16]}.json"
