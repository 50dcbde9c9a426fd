"""The words of a page in each register: one source for labels, headings and notes, so that a register renames it all.

Students and stakeholders read plain words (general pattern, habit, other clues), researchers the paper's. Only words
change: numbers, rows and their order are the same in every register. Terms come from `analysis.glossary`; here are the
phrases of pages, which a page asks by key. Values of links stay those of the researcher's register, so that a link
means the same in each.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, get_args

from analysis.glossary import TERMS

Register = Literal["student", "stakeholder", "researcher"]
REGISTERS: Final = get_args(Register)
PLAIN_REGISTERS: Final = ("student", "stakeholder")

FIELD_WORDS: Final = (
    r"residuals?|gates?|forward pass|tokens?|prior|corrections?|core|recency|clip|clipped|hops?|logits?|softmax|"
    r"counterfactuals?|encoder|embeddings?|renormalis\w*|recount\w*|frozen|"
    r"AUC|POIs?|transitions?|seeds?"
)
"""What no plain page says, as alternatives of a regular expression for whole words; a test walks the pages with it."""

_VARIANTS: Final = {
    "evidence": "other clues",
    "graph": "where people go",
    "history": "habit",
    "count": "habit: how often",
    "recency": "habit: how lately",
    "recent window": "habit: the latest",
}
"""Parts that a model was trained again without, as the bundled results name them."""

_STAGES: Final = {
    "Core": "General pattern",
    "Graph token": "Where people go",
    "Revisit prior": "Habit",
    "Correction": "Habit, by the time",
    "Warm holdout": "Steps held back",
}
"""What a training switches on, see `analysis.training_progress.stage_spans`."""
_OPTIONS: Final = {"num_hops": "Steps along the graph", "seed": "Random start"}
_ROWS: Final = {"two_hop_addends": "Two-step trips", "correction": "Habit, by the time", "core": "The general pattern"}
_ROWS_MORE: Final = {"graph_token": "Where people go in two steps"}
_ABLATIONS: Final = {
    "graph_token": "where people go in two steps",
    "two_hop_paths": "two-step paths",
    "two_hops": "all two-step paths",
    "core": "the general pattern",
    "correction": "the change by the time",
}

_PHRASES: Final[dict[str, tuple[str, str]]] = {
    # key: (plain, researcher)
    "identity": (
        "Total = general pattern + habit + its change by the time{evidence}, rounded; at most {residual} is left over.",
        "Total = core + prior + correction{evidence}, rounded; largest residual {residual}.",
    ),
    "identity_clues": (
        "Total = the sum of these rows, rounded; at most {residual} is left over.",
        "Total = sum of the rows, rounded; largest residual {residual}.",
    ),
    "habit_in_rows": ("Habit is among own visits.", "Prior and correction are among own visits."),
    "identity_evidence": (" + other clues", " + evidence"),
    "clipped": ("Habit cut off at its limit: {names}.", "Clipped: {names}."),
    "not_clipped": ("Habit stays below its limit.", "Prior not clipped."),
    "graph_in_core": (
        "Where people go from here acts inside the general pattern.",
        "The graph acts inside core.",
    ),
    "inactive_row": ("(not at work)", "(inactive)"),
    "terms_title": ("The other clues, one by one", "The evidence, feature by feature"),
    "terms_add_up": ("The terms add up.", "The terms add up."),
    "terms_and_habit": (
        "With habit's own points, which are among own visits, they add up to the total.",
        "With prior and correction, which are among own visits, they add up to the total.",
    ),
    "terms_title_rows": ("The clues, one by one", "The evidence, feature by feature"),
    "terms_column": ("Clue", "Evidence"),
    "paths_title": ("Two steps that reach it", "Two hops that reach it"),
    "no_path": ("No two steps of the training data lead to it.", "No two-hop path leads to it in training."),
    "paths_note": (
        "Line width is the share of all such two-step trips, {share} in all. {badge} "
        "Click a middle place, or tick its row, to cut it.",
        "Line width is the share of the two-hop probability, {share} in all. {badge} "
        "Click a middle place, or tick its row, to cut it.",
    ),
    "in_token": ("The model reads them.", "They are in the token."),
    "only_addends": (
        "They act through their points alone.",
        "They act through their addends alone: the token does not hold them.",
    ),
    "path_addend": ("Adds to the score", "Addend"),
    "not_in_token": ("This model does not read them.", "The token does not hold them at this checkpoint."),
    "rank_frozen": ("Rank without it", "Rank if cut, frozen"),
    "rank_recounted": ("Without its first step", "Recounted"),
    "cuts_note": (
        "Ranks as they would be: with the path alone taken away, and with its first step taken away, whose share the "
        "other steps from here then take over.",
        "Counterfactual ranks. Frozen takes one product out; recounted removes the first edge and renormalises.",
    ),
    "cut_rows": ("trips behind it", "training rows"),
    "cut_button": ("Cut it: remove the first step", "Cut it: remove the first edge"),
    "prior_off": (
        "Habit is not at work here, so these visits do not act on the scores.",
        "The revisit prior is inactive here, so these visits do not act on the scores.",
    ),
    "prior_off_clues": (
        "Habit is not at work here: these visits act through the clues about own visits.",
        "The revisit prior is inactive here: these visits act through the evidence on own visits.",
    ),
    "visits_note": (
        "One dot per visit, stronger when fresher; a rim marks the latest ones.",
        "One dot per visit, stronger when fresher; a rim marks the recent window.",
    ),
    "in_window": ("Among the latest", "In window"),
    "gate": ("Time fits", "Gate"),
    "gate_effect": ("Points for that", "Its effect"),
    "left_out_title": ("Without one clue", "Without one piece of evidence"),
    "masked": ("Only not read", "Token alone masked"),
    "left_out_note": (
        "Each row asks the model again without that clue alone, an earlier check-in as if it had not happened; the "
        "changes need not add up.",
        "Each row is a forward pass without that item alone, an earlier check-in as if it had not happened; the "
        "changes need not add up.",
    ),
    "inactive": (
        "Not at work in this model, or switched off: {names}.",
        "Inactive at this epoch or switched off: {names}.",
    ),
    "own_token": ("Who the walker is", "The walker's own token"),
    "two_hop_token": ("Where people go in two steps", "The two-hop token"),
    "two_hop_path": ("Two-step path", "Two-hop path"),
    "chip_two": ("2 steps", "2 hops"),
    "chip_one": ("1 step", "1 hop"),
    "found_by_hops": ("Found by two-step trips", "Found by two hops"),
    "found_within_hops": ("Found, within two steps", "Found, within two hops"),
    "without_two_hops": ("Without two-step trips", "Without two hops"),
    "hops_title": ("What one more step buys", "What one more hop buys"),
    "hops_axis": ("Steps N", "Hops N"),
    "hops_alt": (
        "Places, share of unseen steps reached and signal to noise for one to five steps",
        "Candidates, share of unseen steps reached and signal to noise for one to five hops",
    ),
    "inside_two_hops": ("Within<br>two steps", "Within<br>two hops"),
    "beyond_two_hops": ("Beyond<br>two steps", "Beyond<br>two hops"),
    "lift_two_hops": ("Within two steps", "Within two hops"),
    "seeds_title": ("Is it more than luck in training?", "Difference against seeds"),
    "seeds_note": (
        "Grey: how far two trainings of the same model differ (95 %). Only what lies outside is a finding.",
        "Grey: how far two seeds of the same model differ (95 %). Only what lies outside is a finding.",
    ),
    "seeds_unmeasured": (
        "How far the same model differs when it is trained again is not measured: train it from other random starts "
        "(`recap train --seed`, or `recap explain --seeds`) and they stand here as one model with its spread.",
        "Seeds are not measured: train the same configuration with other seeds (`recap train --seed`, or "
        "`recap explain --seeds`) and they stand here as one model with its spread.",
    ),
    "seeds_none": (
        "Neither side was trained, so training again would give the same.",
        "Neither side was trained with a seed, so there is no spread to hold the difference against.",
    ),
    "each_seed": ("one dot for each training", "one dot for each seed"),
    "form_seeds": ("Random starts", "Seeds"),
    "form_hops": ("Steps along the graph", "Graph hops"),
    "cohorts_alt": (
        "Tail accuracy by whether the target was visited before and lies within two steps",
        "Tail accuracy by whether the target was visited before and lies within two hops",
    ),
}

_PLAIN: Final = tuple(
    (re.compile(pattern), plain)
    for pattern, plain in (
        (r"\b([Oo]ne|[Tt]wo|[Tt]hree|[Ff]our|[Ff]ive)([ -])hop(s?)\b", r"\1\2step\3"),
        (r", seed 0\b", ""),
        (r"\bseed(s?)\b", r"training\1"),
        (r"\bSeeds(:? not measured| are not)\b", r"Trainings\1"),
    )
)
"""Words of sentences made elsewhere, and plain ones; counted hops only and no capitals, so that names come through."""


@dataclass(frozen=True)
class Words:
    """What a page says in one register.

    Attributes:
        register: who reads.
    """

    register: Register = "researcher"

    @property
    def is_plain(self) -> bool:
        return self.register in PLAIN_REGISTERS

    @property
    def sentences(self) -> Literal["stakeholder", "researcher"]:
        """What a saved case keeps of the register."""
        return "stakeholder" if self.is_plain else "researcher"

    def say(self, key: str, **values: object) -> str:
        """A phrase of a page; ``values`` fill its gaps."""
        return _PHRASES[key][0 if self.is_plain else 1].format(**values)

    def term(self, key: str) -> str:
        """A term of the glossary as it stands on screen."""
        return TERMS[key].plain_word if self.is_plain else TERMS[key].word

    def terms(self, labels: Mapping[str, str]) -> dict[str, str]:
        """Labels by term, renamed where the plain word is another one."""
        return {key: self.term(key) if self.is_plain and key in TERMS else label for key, label in labels.items()}

    def row(self, key: str, label: str) -> str:
        """A row of the score (`analysis.records.ablations.ROW_LABELS`)."""
        return (_ROWS | _ROWS_MORE).get(key, label) if self.is_plain else label

    def ablation(self, key: str, label: str) -> str:
        """What is left out (`analysis.records.ablations.ABLATION_LABELS`)."""
        return _ABLATIONS.get(key, label) if self.is_plain else label

    def sentence(self, text: str) -> str:
        """A sentence that was made elsewhere: hops are steps, seeds are trainings.

        >>> Words("student").sentence("Food Shop links the two. Without two hops it would rank 41st.")
        'Food Shop links the two. Without two steps it would rank 41st.'
        >>> Words("student").sentence("Seeds not measured; Apple Seeds is near.")
        'Trainings not measured; Apple Seeds is near.'
        """
        for pattern, plain in _PLAIN if self.is_plain else ():
            text = pattern.sub(plain, text)
        return text

    def variant(self, name: str) -> str:
        """A model trained again without a part: "w/o recency" is "w/o habit: how lately"."""
        part = name.removeprefix("w/o ").lower()
        return f"w/o {_VARIANTS[part]}" if self.is_plain and name.startswith("w/o ") and part in _VARIANTS else name

    def stage(self, name: str) -> str:
        """A stage of a training, by what it switches on.

        >>> Words("student").stage("+ Correction + Warm holdout")
        '+ Habit, by the time + Steps held back'
        """
        if not self.is_plain:
            return name
        lead = "+ " * name.startswith("+ ")
        return lead + " + ".join(_STAGES.get(part, part) for part in name.removeprefix("+ ").split(" + "))

    def option(self, name: str) -> str:
        """A field of a training's configuration; what has no plain word keeps the name that the form takes."""
        field = name.rpartition(".")[2]
        return _OPTIONS.get(field, name) if self.is_plain else name

    def clue(self, label: str) -> str:
        """A clue of the evidence (`analysis.explain.clues.clues`).

        >>> Words("student").clue("Recency 14 days"), Words("student").clue("Two-hop paths")
        ('Visited lately, 14 days', 'Two-step trips')
        """
        if not self.is_plain:
            return label
        return _ROWS["two_hop_addends"] if label == "Two-hop paths" else re.sub("^Recency", "Visited lately,", label)
