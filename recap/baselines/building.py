"""Any baseline by its name, fitted and ready to score."""

from contextlib import suppress

from recap.baselines import BASELINES
from recap.baselines.counting import CountPlusMarkov, Markov, Nearest, Popularity, VisitCount
from recap.baselines.evidence import EvidenceRanker
from recap.baselines.evidence_config import EvidenceRankerConfig, cache_file
from recap.data.dataset import Dataset
from recap.errors import ConfigError, RecapError
from recap.evidence.config import EvidenceConfig
from recap.graph import TransitionGraph
from recap.scores import Scorer
from recap.storage.user_folder import make_folder


def build_baseline(name: str, dataset: Dataset, graph: TransitionGraph, *, keep: bool = True) -> Scorer:
    """One of the baselines; `evidence` is fitted once for a dataset and then read from the user's cache.

    Args:
        graph: the dataset's training transitions.
        keep: whether to write a new fit to the cache.

    Raises:
        ConfigError: unknown name.
    """
    match name:
        case "popularity":
            return Popularity(dataset)
        case "markov":
            return Markov(dataset, graph)
        case "visit_count":
            return VisitCount(dataset)
        case "count_plus_markov":
            return CountPlusMarkov(dataset, graph)
        case "nearest":
            return Nearest(dataset)
        case "evidence":
            return cached_evidence_ranker(dataset, graph, keep=keep)
        case "evidence_sessions":
            with_sessions = EvidenceRankerConfig(features=EvidenceConfig(sessions=True))
            return cached_evidence_ranker(dataset, graph, with_sessions, keep=keep)
        case _:
            raise ConfigError(f"unknown baseline {name!r}; choose one of {', '.join(BASELINES)}")


def cached_evidence_ranker(
    dataset: Dataset,
    graph: TransitionGraph,
    config: EvidenceRankerConfig | None = None,
    *,
    seed: int = 0,
    keep: bool = True,
) -> EvidenceRanker:
    """A fitted evidence ranker, from the user's cache folder if it was fitted there before.

    A cached file that cannot be read is fitted and written anew; a cache that cannot be written is done without.

    Args:
        keep: whether to write a new fit, and to replace a file that cannot be read.
    """
    config = EvidenceRankerConfig() if config is None else config
    path = cache_file(dataset.hash, config, seed)
    if path is not None and path.is_file():
        try:
            return EvidenceRanker.load(path, dataset, graph)
        except RecapError:
            if keep:
                with suppress(OSError):  # of another user, or read-only: then it is fitted at every start
                    path.unlink(missing_ok=True)
    ranker = EvidenceRanker.fit(dataset, graph, config, seed=seed)
    if keep and path is not None:
        with suppress(RecapError):
            make_folder(path.parent)
            ranker.save(path)
    return ranker
