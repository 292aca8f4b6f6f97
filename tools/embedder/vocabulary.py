"""Which pieces of the teacher's vocabulary the table keeps, and how frequent they are in each language."""
import collections
import math
import re
import unicodedata

import wordfreq

LANGUAGES = "en zh ja ko de es fr it ms pt ru ar hi nl vi sv he pl tr id".split()
UNCASED = {"zh", "ja", "ko", "ar", "hi", "he"}
SCRIPTS = {"LATIN", "CYRILLIC", "ARABIC", "HEBREW", "DEVANAGARI", "THAI", "HANGUL", "HIRAGANA", "KATAKANA"}
WORDS_PER_LANGUAGE = 60_000
BY_FREQUENCY = 74_000
HANGUL = re.compile("[\uac00-\ud7a3]")
THAI = re.compile("[\u0e00-\u0e7f]")


def frequencies(teacher, capitalized=0.25):
    """For each language the frequency of each piece, from those of words in lower case. `capitalized`: how much more often they begin with a capital."""
    found = {}
    for language in LANGUAGES:
        words = wordfreq.get_frequency_dict(language, wordlist="best")
        counts = collections.Counter()
        for word, frequency in sorted(words.items(), key=lambda item: -item[1])[:WORDS_PER_LANGUAGE]:
            for id in teacher.tokens(word):
                counts[id] += frequency
            if language not in UNCASED:
                for id in teacher.tokens(word.capitalize()):
                    counts[id] += frequency * capitalized
        found[language] = counts
    return found


def ranked(pieces, by_language):
    """Ids by falling frequency in the language that uses a piece most, and that frequency."""
    best = collections.defaultdict(float)
    for counts in by_language.values():
        for id, frequency in counts.items():
            best[id] = max(best[id], frequency)
    for id, (piece, score) in enumerate(pieces):
        # There are no word frequencies for Thai: the model's own probabilities stand in.
        if THAI.search(piece):
            best[id] = max(best[id], math.exp(score))
        elif len(piece.replace("▁", "")) <= 1 and id > 3:
            best[id] = max(best[id], 1e-9)
    return [id for id in sorted(best, key=lambda id: -best[id]) if id > 3], best


def choose(pieces, order):
    """Ids of the pieces that the table has."""
    kept = list(order[:BY_FREQUENCY])
    known = set(kept)
    for id, (piece, _) in enumerate(pieces):
        if id < 4 or id in known:
            continue
        text = piece.replace("▁", "")
        kinds = {unicodedata.category(character)[0] for character in text}
        is_sign = not kinds & {"L", "M"} and len(text) <= 4 and not re.search("[^\\W0-9]", text)
        is_letter = len(text) == 1 and unicodedata.name(text, "?").split()[0] in SCRIPTS
        # Word frequencies of Korean are of stems; texts have particles at their ends.
        if is_sign or is_letter or THAI.search(piece) or HANGUL.search(piece):
            kept.append(id)
    return kept
