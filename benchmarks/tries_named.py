"""The tries by name: which features and which kind of ranker, see `tries.py`.

Names say what a try is made of. ``add_X``: evidence_sessions' features and group X, one weight each. ``o``: popularity
counts other users' check-ins alone (the user's own training check-ins tell where training goes on). ``gate``: weights
depend on the step. ``hp``: on habit and pace alone. ``n``: further features of places new to the user only.
``every``: every feature. ``mlp``: a network scores each candidate. ``seqgate``: weights depend on a GRU's state over
the last 15 check-ins; ``core``: its product with a place's embedding is a score, ``cosine``: their cosine times a
learned temperature; ``ownnext``: the state holds embeddings of where the user went next from the source.
``pointer``: each of the last 64 check-ins has a strength that a network gives it, summed by place. ``mixture``: a gate
says how likely the user goes back to a known place, and known and new places have a distribution each.
``cross``: on the scores of a trained RECAP, fitted on the validation cases of half of the users and ranked on the other
half's. ``mean``: of the scores of several tries.
"""

from typing import Any, Final

from recap.evidence.config import HabitsConfig, SurroundingsConfig

Try = dict[str, Any]


def at(kinds: str, *names: str) -> list[str]:
    """Features at places that are new, known, or both apart.

    >>> at("new known", "x")
    ['x*new', 'x*known']
    """
    return [f"{name}*{kind}" for name in names for kind in kinds.split()]


def less(names: list[str], without: list[str]) -> list[str]:
    """Names without some."""
    return [name for name in names if name not in without]


BOTH: Final = "new known"
EVIDENCE: Final = [
    *("known", "stay", "once", "recent_visits", "visits_at_hour", "visits_on_day", "next_at_hour"),
    *("recency_0.25_days", "recency_14_days", "own_transitions", "own_pairs", "others_transitions"),
    *("known_popularity", "known_distance", "in_burst", "in_trajectory", "just_before", "own_transitions_at_hour"),
    *("week_slot", "next_at_hour_on_day", "slow_transitions", "popularity", "distance"),
]
OTHERS_EVIDENCE: Final = [
    *(name for name in EVIDENCE if "popularity" not in name),
    *at(BOTH, "others_popularity"),
]
INTENSITY: Final = list(HabitsConfig().counts)
SINCE: Final = [f"recency_{days:g}_days" for days in HabitsConfig().recency_days]
HOURS: Final = [
    *("visits_at_hour_0.5", "visits_at_hour_3", "visits_hours_later_0_2", "visits_hours_later_2_5"),
    *("visits_hours_later_5_9", "visits_weekday", "visits_first_of_day"),
]
OWN_GRAPH: Final = ["own_reverse", "own_two_step", "own_same_trajectory", "own_after_previous"]
BACK_OFF: Final = ["own_after_category", "own_after_near", "own_after_near_at_hour"]
NEAR: Final = [f"within_{km:g}_km" for km in SurroundingsConfig().near_km]
PLACES: Final = ["near_own_0.3km", "near_own_2km", "own_category", "place_at_hour"]
USERS: Final = ["visitors_alike", "places_together"]
OLD_GROUPS: Final = {
    "intensity": INTENSITY,
    "since": SINCE,
    "hours": HOURS,
    "own_graph": OWN_GRAPH,
    "back_off": BACK_OFF,
    "regular": ["overdue", "underdue"],
    "near": at(BOTH, *NEAR),
    "places": at(BOTH, *PLACES),
    "users": at(BOTH, *USERS),
    "two_hop": at(BOTH, "two_hop"),
}
GROUPS: Final = {**OLD_GROUPS, "visitors": at(BOTH, "others_visitors")}
OLD_EVERY: Final = [
    *EVIDENCE,
    *("new*popularity", "new*others_transitions"),
    *(name for group in OLD_GROUPS.values() for name in group),
]
EVERY: Final = [*OTHERS_EVIDENCE, "new*others_transitions", *(name for group in GROUPS.values() for name in group)]
NEW: Final = at("new", *NEAR, *PLACES, *USERS, "two_hop", "others_visitors", "others_transitions")
SMALL: Final = [*OTHERS_EVIDENCE, *at(BOTH, *NEAR, "visitors_alike", "others_visitors"), "new*others_transitions"]
AROUND: Final = at("new", *NEAR, "own_category", "visitors_alike")
NEAR_KNOWN: Final = [*EVIDENCE, *at(BOTH, *NEAR)]
ALIKE_KNOWN: Final = at(BOTH, "visitors_alike", "own_category")

TIME: Final = ["hour_sin", "hour_cos", "hour_sin2", "hour_cos2", "weekend"]
PACE: Final = ["log_gap", "burst", "in_trajectory_steps"]
HABIT: Final = ["log_history", "log_places", "new_of_10", "new_of_50"]
SOURCE: Final = ["source_visits", "source_popularity", "others_from_source", "source_is_new"]
CONTEXT: Final = [*TIME, *PACE, *HABIT, *SOURCE]
HABIT_PACE: Final = [*PACE, *HABIT]

LINEAR: Final[Try] = {"kind": "linear", "epochs": 8}
OTHERS: Final[Try] = {"base": "others"}
GATE: Final[Try] = {"kind": "gate", "epochs": 10, "context": CONTEXT}
O_GATE: Final[Try] = {**GATE, **OTHERS, "features": OTHERS_EVIDENCE}
HP: Final[Try] = {**O_GATE, "context": HABIT_PACE}
HELD: Final[Try] = {**GATE, "context": HABIT_PACE, "decay": 1.0}
N: Final[Try] = {**HELD, **OTHERS}
ALL: Final[Try] = {**N, "features": EVERY}
MLP: Final[Try] = {"kind": "mlp", "epochs": 8, "context": CONTEXT}
CROSS: Final[Try] = {"kind": "linear", "epochs": 20, "cross": True}
CORE: Final = ["known", "core*known", "core*new"]
VISITORS: Final = "others_visitors*known"
LEAN_OWN: Final = [*OTHERS_EVIDENCE, "new*others_transitions", *INTENSITY, *SINCE, *HOURS, "overdue", "underdue"]
LEAN: Final = [*LEAN_OWN, *at(BOTH, *NEAR, *PLACES), "visitors_alike*new"]
LEAN_KNOWN: Final = [
    *(name for name in LEAN if not name.startswith("others_popularity")),
    "popularity",
    "known_popularity",
]
LEAN_TRY: Final[Try] = {**N, "features": LEAN}
SLIM_GROUPS: Final = {
    **{name: OLD_GROUPS[name] for name in ("intensity", "since", "hours", "regular")},
    "near": at("new", *NEAR),
    "near_own": at("new", *PLACES[:2]),
    "category": at("new", "own_category"),
    "users": at("new", "visitors_alike"),
}
SLIM: Final = [*EVIDENCE, *(name for group in SLIM_GROUPS.values() for name in group)]
SLIM_TRY: Final[Try] = {**HELD, "features": SLIM}
NEW_TRANSITIONS: Final = at("new", "others_transitions")
WIDE_GROUPS: Final = {
    "new_transitions": NEW_TRANSITIONS,
    **{name: OLD_GROUPS[name] for name in ("since", "hours", "regular")},
    "near_known": at("known", *NEAR),
    "near_own_known": at("known", *PLACES[:2]),
    "near_own": at(BOTH, *PLACES[:2]),
    "category": at(BOTH, "own_category"),
}
WIDE: Final = [
    *EVIDENCE,
    *NEW_TRANSITIONS,
    *SINCE,
    *HOURS,
    *OLD_GROUPS["regular"],
    *at(BOTH, *NEAR, *PLACES[:3]),
    *at("new", "visitors_alike"),
]
WIDE_TRY: Final[Try] = {**HELD, "features": WIDE}
KEPT: Final = [
    *(*EVIDENCE, *NEW_TRANSITIONS, *INTENSITY, *SINCE, *OLD_GROUPS["regular"]),
    *at(BOTH, *NEAR, "own_category"),
    *at("new", "visitors_alike"),
]
KEPT_TRY: Final[Try] = {**HELD, "features": KEPT}

TRIES: Final[dict[str, Try]] = {
    "again": {**LINEAR, "features": EVIDENCE},
    **{f"add_{name}": {**LINEAR, "features": EVIDENCE + group} for name, group in OLD_GROUPS.items()},
    "everything": {**LINEAR, "features": OLD_EVERY},
    "gate_evidence": {**GATE, "features": EVIDENCE},
    "gate_everything": {**GATE, "features": OLD_EVERY},
    "mlp_evidence": {**MLP, "features": EVIDENCE},
    "mlp_everything": {**MLP, "features": OLD_EVERY},
    "o": {**LINEAR, **OTHERS, "features": OTHERS_EVIDENCE},
    **{f"o_add_{name}": {**LINEAR, **OTHERS, "features": OTHERS_EVIDENCE + group} for name, group in GROUPS.items()},
    "o_everything": {**LINEAR, **OTHERS, "features": EVERY},
    "o_gate_evidence": O_GATE,
    "o_gate_ep20": {**O_GATE, "epochs": 20},
    "o_gate_wd.1": {**O_GATE, "decay": 0.1},
    "o_gate_wd1": {**O_GATE, "decay": 1.0},
    "o_gate_only_time": {**O_GATE, "context": TIME},
    "o_gate_only_pace": {**O_GATE, "context": PACE},
    "o_gate_only_habit": {**O_GATE, "context": HABIT},
    "o_gate_only_source": {**O_GATE, "context": SOURCE},
    **{f"o_gate_add_{name}": {**O_GATE, "features": OTHERS_EVIDENCE + group} for name, group in GROUPS.items()},
    "o_gate_everything": {**O_GATE, "features": EVERY},
    "o_deepgate": {**O_GATE, "kind": "deepgate"},
    "o_mlp_evidence": {**MLP, **OTHERS, "features": OTHERS_EVIDENCE},
    "o_mlpgate_evidence": {**MLP, **OTHERS, "kind": "mlpgate", "features": OTHERS_EVIDENCE},
    "o_mlp_everything": {**MLP, **OTHERS, "features": EVERY},
    "cross_evidence": {**CROSS, "features": ["known"]},
    "cross_core": {**CROSS, "features": CORE},
    "cross_revisit": {**CROSS, "features": ["known", "revisit"]},
    "cross_core_revisit": {**CROSS, "features": [*CORE, "revisit"]},
    "cross_core_gate": {**CROSS, "kind": "gate", "features": [*CORE, "revisit"], "context": CONTEXT},
    "cross_known_gate": {**CROSS, "kind": "gate", "features": ["known"], "context": CONTEXT},
    "hp": HP,
    "hp_wd1": {**HP, "decay": 1.0},
    "hp_old_popularity": {**HP, "base": "", "features": EVIDENCE},
    "hp_source_new": {**HP, "context": [*HABIT_PACE, "source_visits", "source_is_new"]},
    "hp_mlp": {**HP, "kind": "mlpgate", "epochs": 8},
    "hp_justmlp": {**HP, "kind": "mlp", "epochs": 8},
    "hp_visitors_users": {**HP, "features": OTHERS_EVIDENCE + GROUPS["visitors"] + GROUPS["users"]},
    "hp_own_graph": {**HP, "features": OTHERS_EVIDENCE + OWN_GRAPH},
    "hp_back_off": {**HP, "features": OTHERS_EVIDENCE + BACK_OFF},
    "hp_intensity": {**HP, "features": OTHERS_EVIDENCE + INTENSITY},
    "n_linear": {**LINEAR, **OTHERS, "features": OTHERS_EVIDENCE + NEW},
    "n_hp": {**N, "features": OTHERS_EVIDENCE + NEW},
    "n_hp_visitors": {**N, "features": [*OTHERS_EVIDENCE, *NEW, VISITORS]},
    "n_hp_back_off": {**N, "features": [*OTHERS_EVIDENCE, *NEW, VISITORS, *BACK_OFF]},
    "n_all": {**N, "features": [*OTHERS_EVIDENCE, *NEW, VISITORS, *BACK_OFF], "context": CONTEXT},
    "n_mlp": {**N, "kind": "mlpgate", "features": [*OTHERS_EVIDENCE, *NEW, VISITORS, *BACK_OFF]},
    "n_every": ALL,
    "n_every_mlp": {**N, **MLP, "features": EVERY},
    "mean_1": {"mean_of": ["n_hp_visitors", "n_every", "n_every_mlp"]},
    "mean_2": {"mean_of": ["n_all", "n_every_mlp"]},
    "mean_3": {"mean_of": ["n_hp_back_off", "n_mlp", "n_every_mlp", "n_all"]},
    **{
        f"every_minus_{name}": {**ALL, "features": [feature for feature in EVERY if feature not in group]}
        for name, group in GROUPS.items()
    },
    "every_minus_gate": {**ALL, "kind": "linear"},
    "every_only_pace": {**ALL, "context": PACE},
    "every_only_habit": {**ALL, "context": HABIT},
    "every_wd3": {**ALL, "decay": 3.0},
    "small": {**ALL, "features": SMALL},
    "small_together": {**ALL, "features": [*SMALL, *at(BOTH, "places_together")]},
    "small_intensity": {**ALL, "features": SMALL + INTENSITY},
    "small_places": {**ALL, "features": SMALL + GROUPS["places"]},
    "seqgate_evidence": {**N, "kind": "gateseqgate", "features": OTHERS_EVIDENCE},
    "every_seqgate": {**ALL, "kind": "gateseqgate"},
    "every_core": {**ALL, "kind": "gateseqcore", "epochs": 6},
    "gate": {**HELD, "features": EVIDENCE},
    "gate_near": {**HELD, "features": NEAR_KNOWN},
    "gate_near_users": {**HELD, "features": [*NEAR_KNOWN, *at(BOTH, "visitors_alike")]},
    "gate_near_places": {**HELD, "features": NEAR_KNOWN + GROUPS["places"]},
    "gate_near_category": {**HELD, "features": [*NEAR_KNOWN, *at(BOTH, "own_category")]},
    "gate_near_users_category": {**HELD, "features": NEAR_KNOWN + ALIKE_KNOWN},
    "gate_near_users_category_since": {**HELD, "features": NEAR_KNOWN + SINCE + GROUPS["regular"] + ALIKE_KNOWN},
    "gate_near_users_category_intensity": {**HELD, "features": NEAR_KNOWN + INTENSITY + ALIKE_KNOWN},
    "near_users_category": {**HELD, "kind": "linear", "features": NEAR_KNOWN + ALIKE_KNOWN},
    "gate_near_users_category_others": {**N, "features": [*OTHERS_EVIDENCE, *at(BOTH, *NEAR), *ALIKE_KNOWN]},
    "around_gate": {**HELD, "features": EVIDENCE + AROUND},
    "around_since_gate": {**HELD, "features": EVIDENCE + SINCE + AROUND},
    "around_seqgate": {**HELD, "kind": "gateseqgate", "features": EVIDENCE + AROUND},
    "around_since_seqgate": {**HELD, "kind": "gateseqgate", "features": EVIDENCE + SINCE + AROUND},
    "around_intensity_gate": {**HELD, "features": EVIDENCE + INTENSITY + SINCE + AROUND},
    "around_no_gate": {**HELD, "kind": "linear", "features": EVIDENCE + AROUND},
    "lean": LEAN_TRY,
    "lean_near_new": {**LEAN_TRY, "features": [*LEAN_OWN, *at("new", *NEAR, *PLACES, "visitors_alike")]},
    "lean_popularity": {**LEAN_TRY, "base": "", "features": LEAN_KNOWN},
    "lean_popularity_no_hour": {**LEAN_TRY, "base": "", "features": less(LEAN_KNOWN, at(BOTH, "place_at_hour"))},
    "kept": KEPT_TRY,
    "kept_hours": {**KEPT_TRY, "features": [*KEPT, *HOURS]},
    "kept_minus_intensity": {**KEPT_TRY, "features": less(KEPT, INTENSITY)},
    "kept_mlp": {**KEPT_TRY, "kind": "mlpgate"},
    "kept_mlp_hours": {**KEPT_TRY, "kind": "mlpgate", "features": [*KEPT, *HOURS]},
    "kept_mlp_hours_places": {**KEPT_TRY, "kind": "mlpgate", "features": [*KEPT, *HOURS, *at(BOTH, *PLACES[:2])]},
    "kept_seqgate": {**KEPT_TRY, "kind": "gateseqgate"},
    "wide": WIDE_TRY,
    **{f"wide_minus_{name}": {**WIDE_TRY, "features": less(WIDE, group)} for name, group in WIDE_GROUPS.items()},
    "slim_new_transitions": {**SLIM_TRY, "features": [*SLIM, *NEW_TRANSITIONS]},
    "slim": SLIM_TRY,
    **{f"slim_minus_{name}": {**SLIM_TRY, "features": less(SLIM, group)} for name, group in SLIM_GROUPS.items()},
    "slim_no_gate": {**SLIM_TRY, "kind": "linear"},
    "slim_seqgate": {**SLIM_TRY, "kind": "gateseqgate"},
    "slim_mlp": {**SLIM_TRY, "kind": "mlpgate"},
    "slim_ep4": {**SLIM_TRY, "epochs": 4},
    "lean_seqgate": {**LEAN_TRY, "kind": "gateseqgate"},
    "lean_mlp": {**LEAN_TRY, "kind": "mlpgate"},
    "lean_seqmlp": {**LEAN_TRY, "kind": "gateseqgatemlp"},
    "pointer": {**HELD, "kind": "pointer", "epochs": 8, "decay": 0.0, "features": EVIDENCE},
    "gate_pointer": {**HELD, "kind": "gatepointer", "features": EVIDENCE},
    "lean_pointer": {**LEAN_TRY, "kind": "gatepointer"},
    "lean_mlp_pointer": {**LEAN_TRY, "kind": "mlpgatepointer"},
    "gate_mixture": {**HELD, "kind": "gatemixture", "features": EVIDENCE},
    "lean_mixture": {**LEAN_TRY, "kind": "gatemixture", "context": CONTEXT},
    "lean_mlp_mixture": {**LEAN_TRY, "kind": "mlpgatemixture"},
    "lean_seq_mixture": {**LEAN_TRY, "kind": "gateseqgatemixture"},
    "lean_ownnext": {**LEAN_TRY, "kind": "gateseqgateownnext"},
    "lean_cosine": {**LEAN_TRY, "kind": "gateseqgatecosine"},
    "mean_lean": {"mean_of": ["lean_popularity_no_hour", "lean_mlp", "lean_seqgate"]},
    "mean_kept": {"mean_of": ["kept", "kept_mlp", "kept_seqgate"]},
}
