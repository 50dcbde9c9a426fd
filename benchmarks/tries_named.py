"""The tries by name: which features and which kind of ranker, see `tries.py`."""

from typing import Any, Final

EVIDENCE: Final = [
    "known", "stay", "once", "recent_visits", "visits_at_hour", "visits_on_day", "next_at_hour", "recency_0.25_days",
    "recency_14_days", "own_transitions", "own_pairs", "others_transitions", "known_popularity", "known_distance",
    "in_burst", "in_trajectory", "just_before", "own_transitions_at_hour", "week_slot", "next_at_hour_on_day",
    "slow_transitions", "popularity", "distance",
]  # fmt: skip
INTENSITY: Final = [f"visits_{name}" for name in ("1h", "6h", "1d", "3d", "7d", "30d", "180d", "ever")]
SINCE: Final = [f"since_{days}d" for days in ("0.05", "1", "3", "7", "60")]
HOURS: Final = ["visits_at_hour_0.5", "visits_at_hour_3", "visits_hours_later_0_2", "visits_hours_later_2_5", "visits_hours_later_5_9", "visits_weekday", "visits_first_of_day"]
OWN_GRAPH: Final = ["own_reverse", "own_two_step", "own_same_trajectory", "own_after_previous"]
BACK_OFF: Final = ["own_after_category", "own_after_near", "own_after_near_at_hour"]
REGULAR: Final = ["overdue", "underdue"]
NEAR: Final = ["within_0.1km", "within_0.5km", "within_2km", "within_8km"]
PLACES: Final = ["near_own_0.3km", "near_own_2km", "own_category", "place_at_hour"]
USERS: Final = ["users_alike", "places_together"]
TWO_HOP: Final = ["two_hop"]
GROUPS: Final = {
    "intensity": INTENSITY, "since": SINCE, "hours": HOURS, "own_graph": OWN_GRAPH, "back_off": BACK_OFF, "regular": REGULAR,
    "near": [f"{name}*{kind}" for name in NEAR for kind in ("new", "known")],
    "places": [f"{name}*{kind}" for name in PLACES for kind in ("new", "known")],
    "users": [f"{name}*{kind}" for name in USERS for kind in ("new", "known")],
    "two_hop": [f"{name}*{kind}" for name in TWO_HOP for kind in ("new", "known")],
}  # fmt: skip
EVERYTHING: Final = EVIDENCE + ["new*popularity", "new*others_transitions"] + [name for group in GROUPS.values() for name in group]
CONTEXT: Final = [
    "hour_sin", "hour_cos", "hour_sin2", "hour_cos2", "weekend", "log_gap", "burst", "in_trajectory_steps", "log_history",
    "log_places", "new_of_10", "new_of_50", "source_visits", "source_popularity", "others_from_source", "source_is_new",
]  # fmt: skip
LINEAR: Final = {"kind": "linear", "epochs": 8}

TRIES: Final[dict[str, dict[str, Any]]] = {
    "again": {**LINEAR, "features": EVIDENCE},
    **{f"add_{name}": {**LINEAR, "features": EVIDENCE + group} for name, group in GROUPS.items()},
    "everything": {**LINEAR, "features": EVERYTHING},
    "gate_evidence": {"kind": "gate", "epochs": 10, "features": EVIDENCE, "context": CONTEXT},
    "gate_everything": {"kind": "gate", "epochs": 10, "features": EVERYTHING, "context": CONTEXT},
    "mlp_evidence": {"kind": "mlp", "epochs": 8, "features": EVIDENCE, "context": CONTEXT},
    "mlp_everything": {"kind": "mlp", "epochs": 8, "features": EVERYTHING, "context": CONTEXT},
}

EVIDENCE2: Final = [name for name in EVIDENCE if "popularity" not in name] + ["others_popularity*new", "others_popularity*known"]
GROUPS2: Final = {**GROUPS, "visitors": ["others_visitors*new", "others_visitors*known"]}
EVERYTHING2: Final = EVIDENCE2 + ["new*others_transitions"] + [name for group in GROUPS2.values() for name in group]
OTHERS: Final = {"base": "others"}
GATE: Final = {"kind": "gate", "epochs": 10, "context": CONTEXT, **OTHERS}
TIME_Z: Final = CONTEXT[:5]
PACE_Z: Final = CONTEXT[5:8]
HABIT_Z: Final = CONTEXT[8:12]
SOURCE_Z: Final = CONTEXT[12:]
TRIES |= {
    "o": {**LINEAR, **OTHERS, "features": EVIDENCE2},
    **{f"o_add_{name}": {**LINEAR, **OTHERS, "features": EVIDENCE2 + group} for name, group in GROUPS2.items()},
    "o_everything": {**LINEAR, **OTHERS, "features": EVERYTHING2},
    "o_gate_evidence": {**GATE, "features": EVIDENCE2},
    "o_gate_ep20": {**GATE, "features": EVIDENCE2, "epochs": 20},
    "o_gate_wd.1": {**GATE, "features": EVIDENCE2, "decay": 0.1},
    "o_gate_wd1": {**GATE, "features": EVIDENCE2, "decay": 1.0},
    **{f"o_gate_only_{n}": {**GATE, "features": EVIDENCE2, "context": z} for n, z in (("time", TIME_Z), ("pace", PACE_Z), ("habit", HABIT_Z), ("source", SOURCE_Z))},
    **{f"o_gate_add_{name}": {**GATE, "features": EVIDENCE2 + group} for name, group in GROUPS2.items()},
    "o_gate_everything": {**GATE, "features": EVERYTHING2},
    "o_deepgate": {**GATE, "kind": "deepgate", "features": EVIDENCE2},
    "o_mlp_evidence": {"kind": "mlp", "epochs": 8, **OTHERS, "features": EVIDENCE2, "context": CONTEXT},
    "o_mlpgate_evidence": {"kind": "mlpgate", "epochs": 8, **OTHERS, "features": EVIDENCE2, "context": CONTEXT},
    "o_mlp_everything": {"kind": "mlp", "epochs": 8, **OTHERS, "features": EVERYTHING2, "context": CONTEXT},
}
