"""The sentences of Runs; data in them are escaped for Markdown."""

from collections.abc import Mapping
from typing import Final

from analysis.formatting import capitalised, share
from analysis.records.accuracy import found_of
from recap.machine.printable import markdown_text
from recap.presets import preset_title
from recap.runs.store.description import RunDescription
from recap.training_config import TrainingSummary

NO_RUN: Final = "Train a model of your own"
FIRST_RUN: Final = "Choose data and a model and press *Start*. Training continues when you close this page."
EXAMPLE: Final = "A finished run looks like this"
NO_DATA: Final = "There is no dataset yet. Make one with `recap prepare`."
BEFORE_FIRST_EPOCH: Final = "Time estimate appears after the first epoch."
NO_GPU: Final = "This machine has no GPU, so it trains on the CPU."
FIELDS_HELP: Final = "One `field=value` on each line, as for `--set`."
HOPS_HELP: Final = "Number of hops whose places the graph token averages."
RESULT_HELP: Final = "Share of test cases with the true place among the first 20 (HR@20)."
UNKNOWN_RUN: Final = "The run of this link is not among your runs."
OF_OTHER_DATA: Final = "This link is for another run {run}, trained on other data."


def model_of(described: RunDescription) -> str:
    spec = described["spec"]
    return markdown_text(preset_title(spec["preset"])) if spec is not None else "a model"


def run_headline(described: RunDescription, summary: TrainingSummary, seconds_left: float | None) -> str:
    """A run's state in one sentence; a finished one has a summary, a running one seconds after its first epoch."""
    spec, state = described["spec"], described["state"]
    what = model_of(described) + (f" on {markdown_text(spec['dataset_name'])}" if spec is not None else "")
    epoch, epochs = described["epoch"], described["epochs"] or 0
    if state == "queued":
        return f"{capitalised(what)} waits for its turn."
    if state == "stopping":
        return f"Stopping {what}."
    if state == "running" and epoch and epoch == epochs:
        return f"Training {what} is done; now it is tested."
    if state == "running":
        left = "" if seconds_left is None else f", about {spoken(seconds_left)} left"
        return f"Training {what}: epoch {epoch + 1} of {epochs}{left}."
    if state == "finished":
        return _result(described, summary)
    ended = {"stopped": "stopped", "failed": "failed", "lost": "ended without a message"}[state]
    return f"Training {what} {ended} after {epoch} of {epochs or '?'} epochs."


def _result(described: RunDescription, summary: TrainingSummary) -> str:
    """How many cases the model and counting find, the better one first."""
    model, spec = model_of(described), described["spec"]
    where = f" on {markdown_text(spec['dataset_name'])}" if spec is not None else ""
    tested = summary.get("test", {}).get("all") or {}
    own = tested.get("hr20")
    counted = (summary.get("baselines", {}).get("visit_count", {}).get("all") or {}).get("hr20")
    if own is None:
        return f"{model}{where} is trained."
    cases = int(tested.get("n") or 0)
    hits, guessed = found_of(own, cases), f"next places{where} within 20 guesses"
    if counted is None:
        return f"{model} finds {hits} {guessed}."
    mine, theirs = hits.split()[0], found_of(counted, cases)
    if theirs == hits:
        return f"{model} and counting past visits both find {hits} {guessed}."
    if counted > own:
        return f"Counting past visits finds {theirs} {guessed}, {model} {mine}."
    return f"{model} finds {hits} {guessed}; counting past visits finds {theirs.split()[0]}."


def estimate(time: str, spread: str, memory: str, basis: str) -> str:
    if not time:
        return BEFORE_FIRST_EPOCH
    return f"About {time} (± {spread})" + (f" and {memory} of memory. " if memory else ". ") + basis


def chart_alt(curve: str, epoch: int, epochs: int, levels: Mapping[str, float]) -> str:
    counters = "".join(f"; {label} reaches {share(level)}" for label, level in levels.items())
    return f"{curve} up to epoch {epoch} of {epochs}, by stage{counters}"


def spoken(seconds: float) -> str:
    """A duration for a sentence.

    >>> [spoken(seconds) for seconds in (20, 61, 125, 5400, 200_000)]
    ['a minute', 'a minute', '2 minutes', '90 minutes', '56 hours']
    """
    minutes = round(seconds / 60)
    if minutes <= 1:
        return "a minute"
    return f"{minutes} minutes" if minutes <= 100 else f"{round(minutes / 60)} hours"
