"""The places' embeddings E_poi on a plane: principal components, t-SNE, and whether neighbours share a category."""

from typing import Final, Literal

import numpy as np
import pandas as pd

from analysis.records.loaded_dataset import LoadedDataset
from recap import columns as c

Projection = Literal["pca", "tsne"]
MAX_PLACES: Final = 4_000
NEIGHBOURS: Final = 10
_SEED: Final = 0


def shown_places(opened: LoadedDataset) -> np.ndarray:
    """The POIs that a projection shows: all, or of a large catalogue the 4,000 most visited in training."""
    visits = opened.dataset.checkins.loc[opened.dataset.checkins[c.SPLIT] == c.TRAIN, c.POI]
    count = np.bincount(visits.to_numpy(np.int64), minlength=opened.dataset.num_pois)
    return np.sort(np.argsort(-count, kind="stable")[:MAX_PLACES])


def project_places(embedding_PE: np.ndarray, how: Projection) -> pd.DataFrame:
    """Two coordinates for every place.

    Args:
        embedding_PE: the embeddings of the places shown, (places, features).

    Returns:
        ``x, y`` in the order of the places; the same embeddings always give the same plane.
    """
    from sklearn.decomposition import PCA  # here, since loading scikit-learn takes a second that no other page needs
    from sklearn.manifold import TSNE

    if how == "pca":
        plane = PCA(n_components=2, svd_solver="full").fit_transform(embedding_PE)
    else:
        perplexity = min(30.0, (len(embedding_PE) - 1) / 3)
        plane = TSNE(perplexity=perplexity, init="pca", random_state=_SEED, n_jobs=1).fit_transform(embedding_PE)
    return pd.DataFrame({"x": plane[:, 0].astype(float), "y": plane[:, 1].astype(float)})


def category_agreement(embedding_PE: np.ndarray, category_P: np.ndarray) -> tuple[float, float]:
    """How often a place's nearest neighbours (cosine, in all features) share its category, and how often by chance.

    Returns:
        the share over all places' ten nearest; the share that a random other place would give.
    """
    from sklearn.neighbors import NearestNeighbors

    near = NearestNeighbors(n_neighbors=min(NEIGHBOURS, len(embedding_PE) - 1), metric="cosine").fit(embedding_PE)
    neighbours = near.kneighbors(return_distance=False)
    same = (category_P[neighbours] == category_P[:, None]).mean()
    _, sizes = np.unique(category_P, return_counts=True)
    total = len(category_P)
    return float(same), float((sizes * (sizes - 1)).sum() / (total * (total - 1)))
