"""Reads sentences back: numbers and claims as a reader takes them, to be held against the explanation."""

import re
from typing import Any

from analysis.explain.clues import evidence_label
from analysis.explain.explanation import FullExplanation
from analysis.explain.net_rows import NET_ROWS, PLAIN_ROWS, net_rows
from analysis.explain.sentences import Sentence
from analysis.explain.trips import Trips
from analysis.formatting import ordinal

ORDINAL = r"(?P<{0}>[\d,]+(?:st|nd|rd|th)|tied [\d,]+(?:st|nd|rd|th)–[\d,]+(?:st|nd|rd|th))"
TIMES = r"(?P<{0}>once|twice|[\d,]+ times)"
POINTS = r"(?P<{0}>[+−]?\d+\.\d\d)"
CHANCE = r"(?P<{0}>less than 0\.1 %|\d+\.\d %)"
TRIPS = (
    r"nobody|this walker(?: alone)?, {0}(?:, and (?:one other person|[\d,]+ other people), {0})?|"
    r"(?:one other person|[\d,]+ other people), {0}"
).format(r"(?:once|twice|[\d,]+ times)")
FORMS = {
    "answer_points": rf"TARGET ranks {ORDINAL.format('rank')} of (?P<places>[\d,]+) with a model share of "
    rf"(?P<probability>\d\.\d{{3}}); RIVAL is (?P<side>ahead|behind) by {POINTS.format('margin')}\.",
    "answer_share": rf"TARGET comes {ORDINAL.format('rank')} of (?P<places>[\d,]+) places; the model's share for it is "
    rf"{CHANCE.format('chance')}\. RIVAL comes {ORDINAL.format('rival_rank')}, with {CHANCE.format('rival_chance')}\.",
    "score": rf"The score of TARGET is {POINTS.format('total')}: core {POINTS.format('core')}"
    rf"(?:, prior {POINTS.format('prior')})?(?:, correction {POINTS.format('correction')})?"
    rf"(?:, evidence {POINTS.format('evidence')})?"
    rf"(?P<rounded> \(rounded\))?(?:; prior and correction together give {POINTS.format('net')})?\.",
    "evidence": r"The evidence that weighs most: (?P<evidence_terms>[^;]+ [+−]\d+\.\d\d(?:; [^;]+ [+−]\d+\.\d\d)*)\.",
    "margin": r"The largest differences to RIVAL: (?P<differences>[^;]+ [+−]\d+\.\d\d(?:; [^;]+ [+−]\d+\.\d\d)*)\.",
    "speaks": r"Held against RIVAL, (?P<helps>[^,]+?) speaks? most for TARGET, (?P<hurts>[^,]+?) most against it\.",
    "only_helps": r"Held against RIVAL, only (?P<only_helps>[^,]+?) speaks? for TARGET\.",
    "only_hurts": r"Held against RIVAL, only (?P<only_hurts>[^,]+?) speaks? against TARGET\.",
    "all_help": r"Held against RIVAL, (?P<all_help>[^,]+?) speaks? most for TARGET, nothing against it\.",
    "all_hurt": r"Held against RIVAL, (?P<all_hurt>[^,]+?) speaks? most against TARGET, nothing for it\.",
    "no_visit": r"Before this check-in the walker had never been to TARGET, so the prior is 0\.00\.",
    "too_old": r"Before this check-in the walker had made (?P<visits>[\d,]+) visits? to TARGET, the last "
    r"(?P<steps>[\d,]+) check-ins? ago, beyond the kept candidates, so the prior is 0\.00\.",
    "visits": r"Before this check-in the walker had made (?P<visits>[\d,]+) visits? to TARGET, the last "
    r"(?P<steps>[\d,]+) check-ins? ago"
    r"(?:: (?P<terms>[^.]+\.\d\d(?:, [a-z ]+ [+−]?\d+\.\d\d)*))?\.",
    "clip": rf"The clip (?P<verb>takes|adds) {POINTS.format('clip')}\.",
    "gate": rf"The gate is {POINTS.format('gate')}, a change of {POINTS.format('correction')}\.",
    "never_there": r"Before now this walker had never been to TARGET\.",
    "been_there": r"Before now this walker had made (?P<visits>[\d,]+) visits? to TARGET, the last "
    r"(?P<span>less than an hour|[\d,]+ hours?|[\d,]+ days) ago\.",
    "step_unseen": r"The training data does not hold this transition\.",
    "step_seen": rf"The training data holds this transition {TIMES.format('count')}: (?P<trips>{TRIPS})\.",
    "step_edited": rf"The edited training data holds this transition {TIMES.format('edited_count')}\.",
    "nobody_went": r"In the training data nobody (?P<way>stayed at PLACE|"
    r"went from PLACE straight to TARGET)\.",
    "went": r"In the training data, who (?P<way>stayed at PLACE|"
    r"went from PLACE straight to TARGET): "
    rf"(?P<trips>{TRIPS})\.",
    "went_edited": r"In the edited training data (?P<edited_count>no|[\d,]+) steps? (?P<way>stays? at PLACE|"
    r"leads? from PLACE straight to TARGET)\.",
    "paths": r"(?P<paths>[\d,]+) two-hop paths? leads? to TARGET, with a two-hop probability of (?P<a2>\d\.\d{3}); the "
    r"strongest goes through PLACE \((?P<in>[\d,]+) and (?P<out>[\d,]+) transitions, share (?P<share>\d\.\d{3})"
    rf"(?:, addend {POINTS.format('addend')})?\)\.",
    "walked": rf"Through PLACE two steps lead to TARGET: the first half went (?P<trips_in>{TRIPS}); "
    rf"the second (?P<trips_out>{TRIPS})\.",
    "walked_and_stayed": rf"Two steps lead to TARGET by staying at the end: to it went (?P<trips_in>{TRIPS}); "
    rf"stayed (?P<trips_out>{TRIPS})\.",
    "stayed_and_walked": rf"Two steps lead to TARGET by staying first: stayed (?P<trips_in>{TRIPS}); "
    rf"on to it went (?P<trips_out>{TRIPS})\.",
    "away_and_back": rf"Two steps lead away and back through PLACE: away went (?P<trips_in>{TRIPS}); "
    rf"back came (?P<trips_out>{TRIPS})\.",
    "stayed_twice": rf"Two steps can both stay at PLACE: who stayed, (?P<trips_in>{TRIPS})\.",
    "without": rf"Without two hops \(token and addends, for all places\) TARGET would (?P<still>still )?rank "
    rf"{ORDINAL.format('rank')}\.",
    "without_plain": rf"Without all two-step trips TARGET would (?P<still>still )?come {ORDINAL.format('rank')}\.",
}
WALKED = {
    "walked": lambda e, middle: e.source != e.target and middle not in (e.source, e.target),
    "walked_and_stayed": lambda e, middle: e.source != e.target == middle,
    "stayed_and_walked": lambda e, middle: middle == e.source != e.target,
    "away_and_back": lambda e, middle: e.source == e.target != middle,
    "stayed_twice": lambda e, middle: e.source == e.target == middle,
}
"""When the strongest path is told so: nobody goes to where they stand, and "back" leads to where they were."""
SCORE_PARTS = ("core", "prior", "correction", "evidence")
NEEDS = {
    "no_visit": "prior",
    "too_old": "prior",
    "visits": "prior",
    "clip": "prior",
    "gate": "correction",
    "evidence": "evidence",
}
"""Forms that mention a part, which must then be active."""


def number(text: str) -> float:
    words = {"once": 1.0, "twice": 2.0, "less than 0.1 %": 0.0, "no": 0.0}
    if text in words:
        return words[text]
    return float(re.sub(r"[ ,%]|times", "", text).replace("−", "-"))


def masked(sentence: Sentence) -> str:
    """The sentence with names replaced by what they are, so that a name cannot be mistaken for a claim."""
    return "".join(piece.text if piece.kind == "plain" else piece.kind.upper() for piece in sentence.pieces)


def check_pointing(text: str) -> None:
    """No word points at a place that the reader must guess, and no number follows a name that may end in one."""
    assert not re.search(r"\bthere\b", text), text
    assert not re.search(r"(TARGET|RIVAL|PLACE) (\d|once|twice)", text), text
    assert not text.startswith(("It ", "Its ")), text


def check(explanation: FullExplanation) -> int:
    """Assert that every sentence is of a known form, true, and about active parts; returns how many were read."""
    read = 0
    for sentences in explanation.sentences.values():
        for sentence in sentences:
            text = masked(sentence)
            check_pointing(text)
            hits = [(name, match) for name, form in FORMS.items() if (match := re.fullmatch(form, text))]
            assert len(hits) == 1, (text, [name for name, _ in hits])
            form, match = hits[0]
            assert NEEDS.get(form) not in explanation.inactive_terms, text
            assert (
                not explanation.edits or form not in ("step_seen", "went", *WALKED) or "edge" not in explanation.edits
            )
            said = {name: value for name, value in match.groupdict().items() if value is not None}
            for name, value in said.items():
                _check_claim(explanation, form, name, value, text, said)
            _check_wordless(explanation, form)
            read += 1
    return read


def _check_claim(e: FullExplanation, form: str, name: str, value: str, text: str, said: dict[str, str]) -> None:
    a, b, revisit = e.contrast.a, e.contrast.b, e.revisits[0]
    exact: dict[str, Any] = {
        "places": e.num_places,
        "probability": (a.probability, 0.0005),
        "margin": (abs(e.contrast.margin), 0.005),
        "chance": (100 * a.probability, 0.05),
        "rival_chance": (100 * b.probability, 0.05),
        "total": (a.total, 0.005),
        "core": (a.core, 0.005),
        "prior": (a.prior, 0.005),
        "correction": (a.correction, 0.005),
        "evidence": (a.evidence, 0.005),
        "visits": revisit.count,
        "steps": revisit.recency_steps,
        "clip": (abs(a.clip_loss), 0.005),
        "gate": (a.gate, 0.005),
        "count": e.transition_count,
        "paths": len(e.paths),
        "a2": (e.a2_source_target, 0.0005),
    }
    if e.paths:
        exact |= {"in": e.paths[0].count_in, "out": e.paths[0].count_out, "share": (e.paths[0].share, 0.0005)}
    match name:
        case "rank" if form.startswith("without"):
            assert e.rank_without_two_hops is not None and value == ordinal(e.rank_without_two_hops), text
        case "rank":
            assert value == ordinal(e.target_rank), text
        case "rival_rank":
            assert value == ordinal(b.rank), text
        case "still":
            assert e.rank_without_two_hops == e.target_rank, text
        case "net":
            assert a.prior * a.correction < 0, text
            assert abs(number(value) - a.prior - a.correction) <= 0.005 * (1 + 1e-9), text
        case "differences":
            _check_differences(e, value, text)
        case "helps" | "hurts" | "only_helps" | "only_hurts" | "all_help" | "all_hurt":
            _check_side(e, name, value, text)
        case "trips":
            _check_trips(value, e.trips, e.transition_count, text)
        case "trips_in" | "trips_out":
            _check_trips(value, None, e.paths[0].count_in if name == "trips_in" else e.paths[0].count_out, text)
        case "way":
            assert value.startswith("stay") == (e.source == e.target), text
        case "edited_count":
            assert number(value) == e.transition_count, text
        case "addend":
            assert e.paths[0].addend is not None
            assert abs(number(value) - e.paths[0].addend) <= 0.005 * (1 + 1e-9), text
        case "side":
            assert (value == "ahead") == (e.contrast.margin < 0), text
        case "verb":
            assert (value == "takes") == (a.clip_loss > 0), text
        case "terms":
            _check_terms(e, value, text)
        case "evidence_terms":
            _check_evidence(e, value, text)
        case "rounded":
            parts = [number(said[part]) for part in SCORE_PARTS if part in said]
            assert round(sum(parts), 2) != round(number(said["total"]), 2), text
        case "span":
            _check_span(revisit.recency_days, value, text)
        case "chance" | "rival_chance" if value.startswith("less"):
            assert exact[name][0] < 0.05, text
        case _ if isinstance(exact[name], tuple):
            assert abs(number(value) - exact[name][0]) <= exact[name][1] * (1 + 1e-9), text
        case _:
            assert number(value) == exact[name], text
    if form == "score" and "rounded" not in said:
        parts = [number(said[part]) for part in SCORE_PARTS if part in said]
        assert round(sum(parts), 2) == round(number(said["total"]), 2), text


def _check_terms(e: FullExplanation, value: str, text: str) -> None:
    terms = {"visit count": "count", "recency": "recency", "recent window": "window"}
    for part in value.split(", "):
        name, shown = part.rsplit(" ", 1)
        assert terms[name] not in e.inactive_terms, text
        assert abs(number(shown) - getattr(e.contrast.a, terms[name])) <= 0.005 * (1 + 1e-9), text


def _check_span(days: float | None, value: str, text: str) -> None:
    assert days is not None
    if value == "less than an hour":
        assert 24 * days <= 0.5, text
    elif "hour" in value:
        assert abs(24 * days - number(value.split()[0])) <= 0.5 and days < 2, text
    else:
        assert abs(days - number(value.split()[0])) <= 0.5 and days >= 2, text


def _check_wordless(e: FullExplanation, form: str) -> None:
    """Claims without a number."""
    revisit = e.revisits[0]
    assert (form in ("step_unseen", "nobody_went")) <= (e.transition_count == 0)
    assert (form in ("no_visit", "never_there")) <= (revisit.count == 0)
    assert (form == "too_old") <= (not revisit.is_candidate)
    assert (form in ("without", "without_plain")) <= (e.rank_without_two_hops is not None)
    if form in WALKED:
        assert WALKED[form](e, e.paths[0].middle), form


def _check_trips(value: str, trips: Trips | None, count: int, text: str) -> None:
    """Who went adds up to the count, and is as the explanation has it."""
    often = [int(number(word)) for word in re.findall(r"once|twice|[\d,]+ times", value)]
    assert sum(often) == count, text
    if trips is None:
        return
    assert value.startswith("this walker") == (trips.own > 0), text
    assert ("alone" in value) == (trips.own > 0 and trips.others == 0), text
    people = re.search(r"(one|[\d,]+) other (?:person|people)", value)
    said = 0 if people is None else 1 if people[1] == "one" else int(people[1].replace(",", ""))
    assert said == trips.people, text


def _check_differences(e: FullExplanation, value: str, text: str) -> None:
    """The rows in which the two differ most, in order, each with its number."""
    mine, theirs = net_rows(e.contrast.a), net_rows(e.contrast.b)
    largest = sorted(NET_ROWS, key=lambda row: -abs(mine[row] - theirs[row]))
    for piece, row in zip(value.split("; "), largest, strict=False):
        name, shown = piece.rsplit(" ", 1)
        assert name == NET_ROWS[row] and abs(number(shown) - (mine[row] - theirs[row])) <= 0.005 * (1 + 1e-9), text


def _check_side(e: FullExplanation, name: str, value: str, text: str) -> None:
    """The row that helps (or hurts) most by the numbers; "only" and "nothing" where no row does the other."""
    mine, theirs = net_rows(e.contrast.a), net_rows(e.contrast.b)
    differences = {row: mine[row] - theirs[row] for row in PLAIN_ROWS}
    pick = max if "help" in name else min
    extreme = pick(differences.values())
    told = next(row for row, word in PLAIN_ROWS.items() if word == value)
    assert differences[told] == extreme and abs(extreme) >= 0.005, text
    if name.startswith(("only", "all")):
        other = min(differences.values()) if "help" in name else -max(differences.values())
        assert other > -0.005, text
        assert (sum(abs(value) >= 0.005 for value in differences.values()) == 1) == name.startswith("only"), text


def _check_evidence(e: FullExplanation, value: str, text: str) -> None:
    """The named terms are the largest ones, in order, each with its number."""
    largest = sorted(e.contrast.a.evidence_terms.items(), key=lambda term: -abs(term[1]))[:3]
    told = [re.fullmatch(r"(.+) ([+−]\d+\.\d\d)", piece) for piece in value.split("; ")]
    assert len(told) == len(largest), text
    for match, (name, exact) in zip(told, largest, strict=True):
        assert match is not None, text
        assert match[1] == evidence_label(name).lower(), text
        assert abs(number(match[2]) - exact) <= 0.005 * (1 + 1e-9), text
