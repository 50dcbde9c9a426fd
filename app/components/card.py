"""The checkpoint's card: facts on its training; the full card is a download."""

from typing import TYPE_CHECKING

import streamlit as st

from app.components import words
from app.components.text import quiet
from app.sources import Source
from recap.machine.printable import markdown_text

if TYPE_CHECKING:
    from recap.checkpoint import Checkpoint


def show_model_card(source: Source) -> None:
    if source.checkpoint_folder is not None and st.button("Model card", icon=":material/description:", type="tertiary"):
        _card(source)


@st.dialog("Model card", width="medium")
def _card(source: Source) -> None:
    from recap.checkpoint import MODEL_CARD, Checkpoint  # here, so that the button alone does not load torch

    assert source.checkpoint_folder is not None
    checkpoint = Checkpoint.load(source.checkpoint_folder)
    manifest, train = checkpoint.manifest, checkpoint.manifest.train
    facts = {
        "Model": markdown_text(checkpoint.label),
        "Dataset": markdown_text(manifest.dataset_name),
        "People": words.INVENTED_PEOPLE if manifest.synthetic else words.REAL_PEOPLE,
        "Preset": f"{markdown_text(train.preset)}, seed {train.seed}",
        "Kept epoch": f"{manifest.best.epoch} of {train.epochs}, validation MRR {manifest.best.val['mrr']:.4f}",
        **_parts(checkpoint),
        "Checkpoint hash": f"`{checkpoint.hash[:12]}`",
        "Dataset hash": f"`{manifest.dataset_hash[:12]}`",
    }
    st.table(facts, border="horizontal")
    quiet(words.ROUTINES)
    path = source.checkpoint_folder / MODEL_CARD
    if path.is_file():
        st.download_button(
            "Full card (Markdown)",
            path.read_bytes(),
            MODEL_CARD,
            "text/markdown",
            on_click="ignore",
            icon=":material/download:",
        )


def _parts(checkpoint: "Checkpoint") -> dict[str, str]:
    if not checkpoint.is_recap:
        return {"Parts of a score": words.NO_PARTS}
    model = checkpoint.recap_training.model
    has = {"graph_token": model.has_token, "prior": model.has_prior, "correction": model.has_correction}
    inactive = ", ".join(part.replace("_", " ") for part in checkpoint.inactive_parts if has[part])
    starts = {"Start of the curves": words.curves_start(checkpoint.manifest.started_from)} if model.has_curves else {}
    return {
        **starts,
        "Graph": words.graph_fact(model.num_hops if model.use_graph else None),
        "Recent window": f"{model.recent_window} check-ins",
        "Inactive at this epoch": markdown_text(inactive) if inactive else "nothing",
    }
