"""How hard a text reads: Flesch-Kincaid grade, and its rare words."""

import re
from typing import Final

_SENTENCE: Final = re.compile(r"[.!?:;]+(?=\s|$)|\n+")
_WORD: Final = re.compile(r"[A-Za-zé’']+(?:-[a-z]+)*")
_GROUPS: Final = re.compile(r"[aeiouyé]+")


def words_of(text: str) -> list[str]:
    """The words of a text; numbers, signs and marks of Markdown are none.

    >>> words_of("**Two** steps: 3 of 4, n = 7.")
    ['Two', 'steps', 'of', 'n']
    """
    return _WORD.findall(text)


def syllables(word: str) -> int:
    """Syllables of an English word, by its groups of vowels; a silent e and a silent -es or -ed do not count.

    >>> [syllables(word) for word in ("step", "place", "places", "walker", "missed", "popular", "table", "idea")]
    [1, 1, 2, 2, 1, 3, 2, 3]
    """
    word = word.lower().strip("'’")
    count = len(_GROUPS.findall(word)) + len(re.findall(r"i[ao](?!u)|eo|ea(?=$|s$)|ua", word)) * ("tion" not in word)
    if re.search(r"[^aeiouyl]e$|[aeiouy]le$", word) and count > 1:
        count -= 1
    if re.search(r"[^aeiouytd]ed$", word) and count > 1:
        count -= 1
    if re.search(r"[^aeiouyscxzg]es$|[^cs]hes$", word) and count > 1 and not word.endswith(("shes", "ches")):
        count -= 1
    return max(count, 1)


def grade(text: str) -> float:
    """Flesch-Kincaid grade: 0.39 words a sentence + 11.8 syllables a word - 15.59 (Kincaid et al. 1975).

    >>> round(grade("The cat sat on the mat."), 2)
    -1.45
    """
    words = words_of(text)
    sentences = max(1, sum(bool(words_of(part)) for part in _SENTENCE.split(text)))
    return 0.39 * len(words) / sentences + 11.8 * sum(map(syllables, words)) / len(words) - 15.59


def long_words(text: str) -> set[str]:
    """Words of three syllables and more in lower case, endings of verbs and plurals aside (Gunning 1952).

    Names are left out: a word with a capital letter that does not begin a sentence.
    """
    found = set()
    for sentence in _SENTENCE.split(text):
        for number, word in enumerate(words_of(sentence)):
            if number and word[0].isupper():
                continue
            stem = re.sub(r"(?:ing|ed|es|s|ly)$", "", word.lower())
            for part in stem.split("-"):
                if syllables(part) >= 3:
                    found.add(part)
    return found
