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
HOURS: Final = [
    "visits_at_hour_0.5",
    "visits_at_hour_3",
    "visits_hours_later_0_2",
    "visits_hours_later_2_5",
    "visits_hours_later_5_9",
    "visits_weekday",
    "visits_first_of_day",
]
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
EVERYTHING: Final = (
    EVIDENCE + ["new*popularity", "new*others_transitions"] + [name for group in GROUPS.values() for name in group]
)
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

EVIDENCE2: Final = [name for name in EVIDENCE if "popularity" not in name] + [
    "others_popularity*new",
    "others_popularity*known",
]
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
    **{
        f"o_gate_only_{n}": {**GATE, "features": EVIDENCE2, "context": z}
        for n, z in (("time", TIME_Z), ("pace", PACE_Z), ("habit", HABIT_Z), ("source", SOURCE_Z))
    },
    **{f"o_gate_add_{name}": {**GATE, "features": EVIDENCE2 + group} for name, group in GROUPS2.items()},
    "o_gate_everything": {**GATE, "features": EVERYTHING2},
    "o_deepgate": {**GATE, "kind": "deepgate", "features": EVIDENCE2},
    "o_mlp_evidence": {"kind": "mlp", "epochs": 8, **OTHERS, "features": EVIDENCE2, "context": CONTEXT},
    "o_mlpgate_evidence": {"kind": "mlpgate", "epochs": 8, **OTHERS, "features": EVIDENCE2, "context": CONTEXT},
    "o_mlp_everything": {"kind": "mlp", "epochs": 8, **OTHERS, "features": EVERYTHING2, "context": CONTEXT},
}

CROSS: Final = {"kind": "linear", "epochs": 20, "cross": True}
TRIES |= {
    "cross_evidence": {**CROSS, "features": ["known"]},
    "cross_core": {**CROSS, "features": ["known", "core*known", "core*new"]},
    "cross_revisit": {**CROSS, "features": ["known", "revisit"]},
    "cross_core_revisit": {**CROSS, "features": ["known", "core*known", "core*new", "revisit"]},
    "cross_core_gate": {
        **CROSS,
        "kind": "gate",
        "features": ["known", "core*known", "core*new", "revisit"],
        "context": CONTEXT,
    },
    "cross_known_gate": {**CROSS, "kind": "gate", "features": ["known"], "context": CONTEXT},
}

HABIT_PACE: Final = [*PACE_Z, *HABIT_Z]
HP: Final = {**GATE, "context": HABIT_PACE, "features": EVIDENCE2}
TRIES |= {
    "hp": HP,
    "hp_wd1": {**HP, "decay": 1.0},
    "hp_old_popularity": {**HP, "base": "", "features": EVIDENCE},
    "hp_source_new": {**HP, "context": [*HABIT_PACE, "source_visits", "source_is_new"]},
    "hp_mlp": {**HP, "kind": "mlpgate", "epochs": 8},
    "hp_justmlp": {**HP, "kind": "mlp", "epochs": 8},
    "hp_visitors_users": {**HP, "features": EVIDENCE2 + GROUPS2["visitors"] + GROUPS2["users"]},
    "hp_own_graph": {**HP, "features": EVIDENCE2 + OWN_GRAPH},
    "hp_back_off": {**HP, "features": EVIDENCE2 + BACK_OFF},
    "hp_intensity": {**HP, "features": EVIDENCE2 + INTENSITY},
}

NEW: Final = [f"{name}*new" for name in (*NEAR, *PLACES, *USERS, *TWO_HOP, "others_visitors", "others_transitions")]
NEW_GATE: Final = {**GATE, "context": HABIT_PACE, "decay": 1.0}
TRIES |= {
    "n_linear": {**LINEAR, **OTHERS, "features": EVIDENCE2 + NEW},
    "n_hp": {**NEW_GATE, "features": EVIDENCE2 + NEW},
    "n_hp_visitors": {**NEW_GATE, "features": EVIDENCE2 + NEW + ["others_visitors*known"]},
    "n_hp_back_off": {**NEW_GATE, "features": EVIDENCE2 + NEW + ["others_visitors*known"] + BACK_OFF},
    "n_all": {**NEW_GATE, "features": EVIDENCE2 + NEW + ["others_visitors*known"] + BACK_OFF, "context": CONTEXT},
    "n_mlp": {**NEW_GATE, "kind": "mlpgate", "features": EVIDENCE2 + NEW + ["others_visitors*known"] + BACK_OFF},
    "n_every": {**NEW_GATE, "features": EVERYTHING2},
    "n_every_mlp": {**NEW_GATE, "kind": "mlp", "epochs": 8, "features": EVERYTHING2, "context": CONTEXT},
    "mean_1": {"mean_of": ["n_hp_visitors", "n_every", "n_every_mlp"]},
    "mean_2": {"mean_of": ["n_all", "n_every_mlp"]},
    "mean_3": {"mean_of": ["n_hp_back_off", "n_mlp", "n_every_mlp", "n_all"]},
}

EVERY: Final = {**NEW_GATE, "features": EVERYTHING2}
SMALL: Final = (
    EVIDENCE2
    + [f"{n}*{k}" for n in (*NEAR, "users_alike", "others_visitors") for k in ("new", "known")]
    + ["new*others_transitions"]
)
TRIES |= {
    **{
        f"every_minus_{name}": {**EVERY, "features": [n for n in EVERYTHING2 if n not in group]}
        for name, group in GROUPS2.items()
    },
    "every_minus_gate": {**EVERY, "kind": "linear"},
    "every_only_pace": {**EVERY, "context": PACE_Z},
    "every_only_habit": {**EVERY, "context": HABIT_Z},
    "every_wd3": {**EVERY, "decay": 3.0},
    "small": {**EVERY, "features": SMALL},
    "small_together": {**EVERY, "features": SMALL + ["places_together*new", "places_together*known"]},
    "small_intensity": {**EVERY, "features": SMALL + INTENSITY},
    "small_places": {**EVERY, "features": SMALL + GROUPS2["places"]},
}

TRIES |= {
    "seqgate_evidence": {**NEW_GATE, "kind": "gateseqgate", "features": EVIDENCE2},
    "every_seqgate": {**EVERY, "kind": "gateseqgate"},
    "every_core": {**EVERY, "kind": "gateseqcore", "epochs": 6},
}

NEAR2: Final = GROUPS["near"]
OLD: Final = {**NEW_GATE, "base": "", "features": EVIDENCE}
TRIES |= {
    "gate": OLD,
    "gate_near": {**OLD, "features": EVIDENCE + NEAR2},
    "gate_near_users": {**OLD, "features": EVIDENCE + NEAR2 + ["users_alike*new", "users_alike*known"]},
    "gate_near_places": {**OLD, "features": EVIDENCE + NEAR2 + GROUPS["places"]},
    "gate_near_category": {**OLD, "features": EVIDENCE + NEAR2 + ["own_category*new", "own_category*known"]},
    "gate_near_users_category": {
        **OLD,
        "features": EVIDENCE + NEAR2 + [f"{n}*{k}" for n in ("users_alike", "own_category") for k in ("new", "known")],
    },
    "gate_near_users_category_since": {
        **OLD,
        "features": EVIDENCE
        + NEAR2
        + SINCE
        + REGULAR
        + [f"{n}*{k}" for n in ("users_alike", "own_category") for k in ("new", "known")],
    },
    "gate_near_users_category_others": {
        **OLD,
        "base": "others",
        "features": EVIDENCE2 + NEAR2 + [f"{n}*{k}" for n in ("users_alike", "own_category") for k in ("new", "known")],
    },
    "gate_near_users_category_intensity": {
        **OLD,
        "features": EVIDENCE
        + NEAR2
        + INTENSITY
        + [f"{n}*{k}" for n in ("users_alike", "own_category") for k in ("new", "known")],
    },
    "near_users_category": {
        **OLD,
        "kind": "linear",
        "features": EVIDENCE + NEAR2 + [f"{n}*{k}" for n in ("users_alike", "own_category") for k in ("new", "known")],
    },
}

AROUND: Final = [f"{name}*new" for name in (*NEAR, "own_category", "users_alike")]
TRIES |= {
    "around_gate": {**OLD, "features": EVIDENCE + AROUND},
    "around_since_gate": {**OLD, "features": EVIDENCE + SINCE + AROUND},
    "around_seqgate": {**OLD, "kind": "gateseqgate", "features": EVIDENCE + AROUND},
    "around_since_seqgate": {**OLD, "kind": "gateseqgate", "features": EVIDENCE + SINCE + AROUND},
    "around_intensity_gate": {**OLD, "features": EVIDENCE + INTENSITY + SINCE + AROUND},
    "around_no_gate": {**OLD, "kind": "linear", "features": EVIDENCE + AROUND},
}
