"""What the table is fitted on: texts that mean the same in many languages, as bags of pieces."""
import json
import os
import re

import numpy as np
import wordfreq

here = os.path.dirname(os.path.abspath(__file__))
CLDR = "en zh zh-Hant ja ko de es fr it ms pt ru ar hi nl vi sv he pl tr th id".split()
COLUMNS = "en de es fr it pt nl sv pl ru tr ms vi zh ja ko ar he hi th".split()
PEOPLE_AGAIN = re.compile("family:|couple.*:|kiss:|handshake:|person.*facing")
COMMON_WORDS = 120


def _annotations(folder, language):
    """Symbol → its name and keywords."""
    found = {}
    for package, key in (("cldr-annotations-full", "annotations"), ("cldr-annotations-derived-full", "annotationsDerived")):
        path = f"{folder}/{package}/{key}/{language}/annotations.json"
        if not os.path.exists(path):
            continue
        for symbol, entry in json.load(open(path, encoding="utf-8"))[key]["annotations"].items():
            if not any(0x1F3FB <= ord(character) <= 0x1F3FF for character in symbol):
                found.setdefault(symbol, (entry.get("tts", [""])[0], entry.get("default", [])))
    return found


def _names(folder, language):
    found = {}
    for kind in ("languages", "territories"):
        path = f"{folder}/cldr-localenames-full/main/{language}/{kind}.json"
        names = json.load(open(path, encoding="utf-8"))["main"][language]["localeDisplayNames"][kind]
        for code, name in names.items():
            if "-alt-" not in code and (kind == "territories" or re.fullmatch("[a-z]{2}", code)):
                found[kind + code] = name
    return found


def parallel(folder, bag):
    """Groups of (language, bag) that mean the same, and the group of each English name."""
    annotations = {language: _annotations(folder, language) for language in CLDR}
    names = {language: _names(folder, language) for language in CLDR}
    groups, by_name = [], {}

    def add(name, texts):
        group = [(language[:2], pieces) for language, text in texts if (pieces := bag(text))]
        if len(group) > 1:
            by_name.setdefault(name.lower(), len(groups))
            groups.append(group)

    for symbol, (name, keywords) in annotations["en"].items():
        if not name or PEOPLE_AGAIN.search(name):
            continue
        having = [(language, annotations[language][symbol]) for language in CLDR if symbol in annotations[language]]
        add(name, [(language, text) for language, (text, _) in having if text])
        if len(keywords) > 2:
            add(", ".join(keywords), [(language, " ".join(words[:8])) for language, (_, words) in having if len(words) > 1])
    for code, name in names["en"].items():
        add(name, [(language, names[language][code]) for language in CLDR if code in names[language]])
    return groups, by_name


def concepts(bag):
    """For each concept (language, bags of its words), and the place of a concept by its first word."""
    found, places = [], {}
    for line in open(os.path.join(here, "concepts.txt"), encoding="utf-8"):
        if line.startswith("#"):
            continue
        columns = [[pieces for word in column.split(",") if (pieces := bag(word.strip()))] for column in line.split("|")]
        places.setdefault(line.split(",")[0].split()[0].lower(), len(found))
        found.append(list(zip(COLUMNS, columns)))
    return found, places


def categories(places, by_name):
    """Place of a concept → groups of what belongs to it."""
    found = {}
    for line in open(os.path.join(here, "categories.txt"), encoding="utf-8"):
        if not line.startswith("#"):
            key, members = line.split(":")
            groups = [by_name[name.strip()] for name in members.split(",") if name.strip() in by_name]
            found.setdefault(places[key], []).extend(groups)
    return found


def common(bag):
    """The most frequent words of each language: what a text has beside its meaning."""
    languages = [language for language in COLUMNS if language != "th"]
    return {
        language: [pieces for word in wordfreq.top_n_list(language, COMMON_WORDS) if (pieces := bag(word))]
        for language in languages
    }


class Sampler:
    """Draws pairs of bags that mean the same, with common words strewn in."""

    def __init__(self, folder, bag, seed):
        self.groups, by_name = parallel(folder, bag)
        self.concepts, places = concepts(bag)
        self.categories = categories(places, by_name)
        self.common = common(bag)
        self.random = np.random.default_rng(seed)

    def strewn(self, language, bag, most):
        words = self.common.get(language, [])
        extra = self.random.integers(0, most + 1) if words else 0
        return [*bag, *(piece for _ in range(extra) for piece in words[self.random.integers(len(words))])]

    def _some_words(self, words):
        if not words:
            return []
        count = min(len(words), self.random.integers(1, 4))
        return [piece for place in self.random.choice(len(words), count, replace=False) for piece in words[place]]

    def draw(self, groups, rounds, most_common, category_share=0.45):
        left, right = [], []
        for place in self.random.choice(len(self.groups), groups, replace=False):
            group = self.groups[place]
            one, other = self.random.choice(len(group), 2, replace=False)
            left.append(self.strewn(*group[one], most_common))
            right.append(self.strewn(*group[other], most_common))
        for _ in range(rounds):
            for place in range(len(self.concepts)):
                concept = self.concepts[place]
                language, words = concept[self.random.integers(len(concept))]
                one = self._some_words(words)
                if self.categories.get(place) and self.random.random() < category_share:
                    members = self.groups[self.random.choice(self.categories[place])]
                    other_language, other = members[self.random.integers(len(members))]
                else:
                    other_language, words = concept[self.random.integers(len(concept))]
                    other = self._some_words(words)
                if one and other:
                    left.append(self.strewn(language, one, most_common))
                    right.append(self.strewn(other_language, other, most_common))
        return left, right
