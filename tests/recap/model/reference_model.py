"""RECAP once more, in numpy and one case at a time: the equations as printed, without batches, packing or masks.

Times come from pandas, histories from plain lists, the graph from a dense matrix, so that nothing is shared with the
code under test but its weights.
"""

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtr, softmax

from recap import columns as c
from recap.data.dataset import Dataset
from recap.features.catalogue import PAST, TIME, WHENEVER, Group
from recap.model.config import MAX_CANDIDATES, MAX_PRIOR, ModelConfig
from recap.model.recap import Recap
from tests.recap.features.reference_features import Reference

Array = np.ndarray[Any, Any]


def gelu(x: Array) -> Array:
    """x times the normal distribution function at x."""
    return x * ndtr(x)


ONLY_NEW = {"similar_users", *(feature.name for feature in WHENEVER.new)}


def features_of(group: Group) -> list[str]:
    return [feature.name for feature in WHENEVER.features if feature.group == group]


class ByHand:
    """The model of the paper with the weights of a `Recap`."""

    def __init__(self, model: Recap, dataset: Dataset) -> None:
        self.config: ModelConfig = model.config
        self.weights = {name: tensor.detach().double().numpy() for name, tensor in model.state_dict().items()}
        self.poi = dataset.checkins[c.POI].tolist()
        self.user = dataset.checkins[c.USER].tolist()
        self.trajectory = dataset.checkins[c.TRAJECTORY].tolist()
        self.clock: pd.Series = dataset.local_time
        self.category = dataset.pois[c.CATEGORY_INDEX].tolist()
        place = dataset.pois[[c.LATITUDE, c.LONGITUDE]].to_numpy(np.float64)
        self.place = (place - place.mean(0)) / place.std(0)
        counts = np.zeros((dataset.num_pois, dataset.num_pois))
        split = dataset.checkins[c.SPLIT].tolist()
        for t in range(len(self.poi) - 1):
            if self.trajectory[t] == self.trajectory[t + 1] and split[t + 1] == c.TRAIN:
                counts[self.poi[t], self.poi[t + 1]] += 1
        totals = counts.sum(1, keepdims=True)
        self.dataset, self.features = dataset, Reference(dataset)
        self.adjacency = np.divide(counts, totals, out=np.zeros_like(counts), where=totals > 0)

    def linear(self, name: str, x: Array) -> Array:
        return x @ self.weights[f"{name}.weight"].T + self.weights[f"{name}.bias"]

    def mlp(self, name: str, x: Array, last: int = 2) -> Array:
        return self.linear(f"{name}.{last}", gelu(self.linear(f"{name}.0", x)))

    def norm(self, name: str, x: Array) -> Array:
        centred = x - x.mean(-1, keepdims=True)
        scaled = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5)
        return scaled * self.weights[f"{name}.weight"] + self.weights[f"{name}.bias"]

    def hour(self, row: int) -> float:
        """tod as a fraction of the local day."""
        at = self.clock.iloc[row]
        return (at.hour * 3600 + at.minute * 60 + at.second) / 86_400

    def weekday(self, row: int) -> int:
        return int(self.clock.iloc[row].weekday())

    def time_embedding(self, name: str, row: int) -> Array:
        hour, weekday = self.weights[f"{name}.hour.weight"], self.weights[f"{name}.weekday.weight"]
        return np.concatenate([hour[self.clock.iloc[row].hour], weekday[self.weekday(row)]])

    def past(self, t: int) -> list[int]:
        """Rows q < t of the same user, oldest first."""
        return [q for q in range(t) if self.user[q] == self.user[t]]

    def suffix(self, t: int) -> list[int]:
        """Rows of B_t that exist (Eq. 1)."""
        rows = [*self.past(t), t]
        return rows[-self.config.suffix_length :]

    def token(self, q: int, t: int) -> Array:
        """x_q of the case at t (Eq. 2)."""
        poi = self.poi[q]
        category = self.weights["tokens.category_embedding.weight"][self.category[poi]]
        features = [self.weights["poi_embedding.weight"][poi], category, self.place[poi]]
        if self.config.use_future_time:
            features.append(self.time_embedding("tokens.future_time", t + 1))
        return self.mlp("tokens.mlp", np.concatenate(features))

    def propagated(self) -> Array:
        """G^(N) = A^N E_poi (Eqs. 6-7)."""
        return np.linalg.matrix_power(self.adjacency, self.config.num_hops) @ self.weights["poi_embedding.weight"]

    def graph_token(self, t: int) -> Array:
        """g_t (Eq. 8)."""
        return self.norm("graph_token.norm", self.mlp("graph_token.mlp", self.propagated()[self.poi[t]], last=3))

    def encoder_layer(self, index: int, x: Array) -> Array:
        """Attention, then a feed-forward network, each with a residual and a layer norm after it."""
        name = f"backbone.layers.{index}"
        projected = [self.linear(f"{name}.query", x), *np.split(self.linear(f"{name}.key_value", x), 2, axis=1)]
        by_head = (np.split(part, self.config.num_heads, axis=1) for part in projected)
        heads = [softmax(q @ k.T / math.sqrt(q.shape[1]), axis=-1) @ v for q, k, v in zip(*by_head, strict=True)]
        attended = self.linear(f"{name}.attention_output", np.concatenate(heads, axis=1))
        x = self.norm(f"{name}.norm_attention", x + attended)
        return self.norm(f"{name}.norm_feedforward", x + self.mlp(f"{name}.feedforward", x, last=3))

    def state(self, t: int, graph_weight: float = 1.0) -> Array:
        """h_t (Eqs. 3-4): positions count from the end, what does not exist is not there."""
        rows, position, k = self.suffix(t), self.weights["backbone.position"], self.config.suffix_length
        slots = [self.weights["backbone.user_embedding.weight"][self.user[t]] + position[0]]
        slots += [self.token(q, t) + position[1 + k - len(rows) + i] for i, q in enumerate(rows)]
        if self.config.use_graph:
            slots.append((graph_weight * self.graph_token(t) if graph_weight else 0.0) + position[1 + k])
        x = np.stack(slots)
        for index in range(self.config.num_layers):
            x = self.encoder_layer(index, x)
        return x[len(rows)]

    def core(self, t: int, graph_weight: float = 1.0) -> Array:
        """l_core for every POI (Eq. 5), 0 at visited ones if the core is for new places, or at all."""
        if self.config.core_scope == "nowhere":
            return np.zeros(self.dataset.num_pois)
        core = self.linear("core.output", self.state(t, graph_weight))
        if self.config.core_scope == "unvisited":
            core[sorted({self.poi[q] for q in [*self.past(t), t]})] = 0.0
        return core

    def curves(self, t: int, *groups: Group) -> Array:
        """The sum of every feature's curve for every POI, or of those of some groups."""
        knots, step = self.weights["curves.curves.knot_FK1"], self.weights["curves.curves.step_FK"]
        off = () if self.config.use_history else (*features_of(PAST), *features_of(TIME))
        wanted = [name for group in groups for name in features_of(group)] if groups else list(WHENEVER.names)
        total = np.zeros(self.dataset.num_pois)
        for poi, values in self.features.of(t).items():
            for name in wanted:
                row = WHENEVER.names.index(name)
                ends = knots[row][np.isfinite(knots[row])]
                level = np.concatenate([[0.0], np.cumsum(step[row])])[: len(ends)]
                applies = name not in ONLY_NEW or values["visits"] == 0
                applies = applies and (not name.endswith("_known") or values["visits"] > 0)
                if name not in off and applies:
                    total[poi] += np.interp(values[name], ends, level)
        return total

    def visits(self, t: int) -> dict[int, list[int]]:
        """C_t: POI -> rows of the visits before t, least recently visited POI first, cut to the newest of them."""
        visits: dict[int, list[int]] = {}
        for q in self.past(t):
            visits.setdefault(self.poi[q], []).append(q)
        by_last = sorted(visits.items(), key=lambda item: item[1][-1])
        return dict(by_last if self.config.has_curves else by_last[-MAX_CANDIDATES:])

    def statistics(self, t: int, rows: list[int]) -> Array:
        """alpha_t(d) (Eqs. 20-21)."""
        steps = t - rows[-1]
        part = "calibration" if self.config.has_curves else "prior"
        tau = math.exp(float(self.weights[f"{part}.log_recency_steps"]))
        past = self.past(t)
        recent = self.poi[rows[-1]] in [self.poi[q] for q in past[max(0, len(past) - self.config.recent_window) :]]
        return np.array([math.log(1 + len(rows)), math.exp(-steps / tau), float(recent)])

    def prior(self, t: int, rows: list[int]) -> float:
        """R_t(d) (Eq. 9)."""
        names = ("count_weight", "recency_weight", "window_weight")
        weights = np.array([float(self.weights.get(f"prior.{name}", 0.0)) for name in names])
        raw = float(self.weights["prior.scale"]) * float(weights @ self.statistics(t, rows))
        return min(max(raw, 0.0), MAX_PRIOR)

    def history_features(self, t: int, rows: list[int]) -> Array:
        """phi_t(d) (Eqs. 22-23)."""
        angle = 2 * math.pi * (self.hour(t) - self.hour(rows[-1]))
        psi = [math.cos(angle), math.sin(angle), float(self.weekday(t) == self.weekday(rows[-1]))]
        embedded = self.time_embedding("calibration.last_visit_time", rows[-1])
        return self.mlp("calibration.history", np.concatenate([self.statistics(t, rows), embedded, psi]))

    def gate(self, t: int, poi: int, rows: list[int], state: Array) -> float:
        """gamma_t(d) (Eqs. 10-12, 24)."""
        angle = 2 * math.pi * self.hour(t)
        day = np.eye(7)[self.weekday(t)]
        query = self.mlp("calibration.query", np.concatenate([state, [math.cos(angle), math.sin(angle)], day]))
        embedding = self.weights["poi_embedding.weight"][poi]
        candidate = self.mlp("calibration.candidate", np.concatenate([embedding, self.history_features(t, rows)]))
        mixed = np.concatenate([query, candidate, query * candidate])
        return math.tanh(float(self.mlp("calibration.gate", mixed)[0]))

    def scores(
        self, t: int, *, graph_weight: float = 1.0, prior: bool = True, correction: bool = True
    ) -> dict[str, Array]:
        """Every part for every POI, and their sum (Eqs. 13-14)."""
        core = self.core(t, graph_weight)
        parts = {"core": core, "prior": np.zeros_like(core), "correction": np.zeros_like(core)}
        if self.config.has_curves and prior:
            parts["prior"] = self.curves(t)
        if self.config.use_history and prior:
            state = self.state(t, graph_weight) if self.config.has_encoder else None
            corrected = self.curves(t, PAST, TIME) if self.config.has_curves else parts["prior"]
            for poi, rows in self.visits(t).items():
                if not self.config.has_curves:
                    parts["prior"][poi] = self.prior(t, rows)
                if correction and self.config.use_correction:
                    assert state is not None
                    scale = float(self.weights["calibration.scale"])
                    parts["correction"][poi] = scale * self.gate(t, poi, rows, state) * corrected[poi]
        return parts | {"total": sum(parts.values(), start=np.zeros_like(core))}

    def all_scores(self, rows: Iterable[int], **stage: Any) -> dict[str, Array]:
        """`scores` of many cases, one below the other."""
        cases = [self.scores(t, **stage) for t in rows]
        return {name: np.stack([case[name] for case in cases]) for name in cases[0]}
