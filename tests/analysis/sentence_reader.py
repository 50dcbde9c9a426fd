"""Reads sentences back: numbers and claims as a reader takes them, to be held against the explanation."""

import re

from analysis.explain.explanation import FullExplanation
from analysis.explain.net_rows import NET_ROWS, net_rows
from analysis.explain.sentences import Sentence
from analysis.formatting import ordinal

TIMES = r"once|twice|[\d,]+ times"
OTHERS = r"(?P<others>one other user|[\d,]+ other users)"
WAY = r"(?:at PLACE|from PLACE to TARGET)"
FORMS = {
    "both": r"(?P<helps>.+?) favours? TARGET; (?P<hurts>.+?) favours? RIVAL\.",
    "only": r"Only (?P<row>.+?) favours? (?P<side>TARGET|RIVAL)\.",
    "all": r"(?P<row>.+?) favours? (?P<side>TARGET|RIVAL) most; nothing favours (?:TARGET|RIVAL)\.",
    "never": r"This user had never been to TARGET\.",
    "visits": r"This user had made (?P<visits>[\d,]+) visits? to TARGET, the last "
    r"(?P<span>less than an hour|[\d,]+ hours?|[\d,]+ days) ago\.",
    "nobody": rf"In training, nobody (?P<verb>went|stayed) {WAY}\.",
    "some": rf"In training, (?:only this user|{OTHERS}) (?P<verb>went|stayed) {WAY} \((?P<count>{TIMES})\)\.",
    "mixed": rf"In training, this user \((?P<own>{TIMES})\) and {OTHERS} \((?P<rest>{TIMES})\) "
    rf"(?P<verb>went|stayed) {WAY}\.",
    "edited": rf"In the edited training data, (?P<edited>[\d,]+) transitions? (?P<verb>leads?|stays?) {WAY}\.",
    "without": r"Without two-hop paths TARGET would (?P<still>still )?rank (?P<rank>.+)\.",
}


def number(text: str) -> int:
    words = {"once": 1, "twice": 2}
    return words[text] if text in words else int(re.sub(r"[ ,]|times", "", text))


def masked(sentence: Sentence) -> str:
    """The sentence with names replaced by what they are, so that a name cannot be mistaken for a claim."""
    return "".join(piece.text if piece.kind == "plain" else piece.kind.upper() for piece in sentence.pieces)


def check_pointing(text: str) -> None:
    """No word points at a place that the reader must guess, and no number follows a name that may end in one."""
    assert not re.search(r"\bthere\b", text), text
    assert not re.search(r"(TARGET|RIVAL|PLACE) (\d|once|twice)", text), text
    assert not text.startswith(("It ", "Its ")), text


def check(explanation: FullExplanation) -> int:
    """Assert that every sentence is of a known form and true; returns how many were read."""
    for sentence in explanation.sentences:
        text = masked(sentence)
        check_pointing(text)
        hits = [(name, match) for name, form in FORMS.items() if (match := re.fullmatch(form, text))]
        assert len(hits) == 1, (text, [name for name, _ in hits])
        form, match = hits[0]
        _check_claims(explanation, form, {name: said for name, said in match.groupdict().items() if said}, text)
    return len(explanation.sentences)


def _check_claims(e: FullExplanation, form: str, said: dict[str, str], text: str) -> None:
    revisit, trips = e.revisits[0], e.trips
    if "verb" in said:
        assert said["verb"].startswith("stay") == (e.source == e.target), text
    match form:
        case "both" | "only" | "all":
            _check_rows(e, form, said, text)
        case "never":
            assert revisit.count == 0, text
        case "visits":
            assert number(said["visits"]) == revisit.count and revisit.recency_days is not None, text
            _check_span(revisit.recency_days, said["span"], text)
        case "nobody":
            assert e.transition_count == 0, text
        case "some":
            assert number(said["count"]) == e.transition_count and bool(trips.own) != ("others" in said), text
        case "mixed":
            assert (number(said["own"]), number(said["rest"])) == (trips.own, trips.others), text
            assert trips.count == e.transition_count, text
        case "edited":
            assert number(said["edited"]) == e.transition_count and "edge" in e.edits, text
        case "without":
            assert e.rank_without_two_hops is not None and said["rank"] == ordinal(e.rank_without_two_hops), text
            assert ("still" in said) == (e.rank_without_two_hops == e.target_rank), text
    if "others" in said:
        people = said["others"].split()[0]
        assert (1 if people == "one" else number(people)) == trips.people, text


def _check_rows(e: FullExplanation, form: str, said: dict[str, str], text: str) -> None:
    """Each named row is the extreme of its side, and the other side is empty where nothing is said of it."""
    mine, theirs = net_rows(e.contrast.a), net_rows(e.contrast.b)
    gaps = {row: mine[row] - theirs[row] for row in NET_ROWS}
    by_words = {words: row for row, words in NET_ROWS.items()}

    def gap(words: str) -> float:
        return gaps[by_words[words[:1].lower() + words[1:]]]

    if form == "both":
        assert gap(said["helps"]) == max(gaps.values()) >= 0.005, text
        assert gap(said["hurts"]) == min(gaps.values()) <= -0.005, text
        return
    side = 1 if said["side"] == "TARGET" else -1
    assert side * gap(said["row"]) == max(side * value for value in gaps.values()) >= 0.005, text
    assert min(side * value for value in gaps.values()) > -0.005, text
    assert (sum(abs(value) >= 0.005 for value in gaps.values()) == 1) == (form == "only"), text


def _check_span(days: float, value: str, text: str) -> None:
    if value == "less than an hour":
        assert 24 * days <= 0.5, text
    elif "hour" in value:
        assert abs(24 * days - number(value.split()[0])) <= 0.5 and days < 2, text
    else:
        assert abs(days - number(value.split()[0])) <= 0.5 and days >= 2, text
