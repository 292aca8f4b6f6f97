"""Adjusts the vectors of src/memory/embedding/table.bin by pairs of questions and facts; README.md has the command."""
import argparse
import struct
import unicodedata

import numpy as np

import fit

HEADER_BYTES = 32


def read(path):
    data = open(path, "rb").read()
    count, dimensions, unknown = struct.unpack_from("<IIf", data, 8)
    floats = np.frombuffer(data, "<f4", 2 * count, HEADER_BYTES)
    start = HEADER_BYTES + 8 * count
    small = np.frombuffer(data, np.int8, count * dimensions, start).reshape(count, dimensions)
    pieces = data[start + count * dimensions :].decode("utf-8").split("\n")
    return data, pieces, floats[:count], small * floats[count:, None], unknown


def write(path, data, vectors):
    """Replaces the vectors and their scales."""
    count, dimensions = vectors.shape
    scales = (np.abs(vectors).max(1).clip(1e-9) / 127).astype(np.float32)
    small = np.rint(vectors / scales[:, None]).clip(-127, 127).astype(np.int8)
    start = HEADER_BYTES + 8 * count
    with open(path, "wb") as file:
        file.write(data[: HEADER_BYTES + 4 * count] + scales.tobytes() + small.tobytes())
        file.write(data[start + count * dimensions :])


def cutter(pieces, scores, unknown):
    places = {piece: place for place, piece in enumerate(pieces)}
    longest = max(map(len, pieces))

    def cut(word):
        best = [(0.0, 0, -1)] + [(-1e30, 0, -1)] * len(word)
        for begin in range(len(word)):
            for end in range(begin + 1, min(len(word), begin + longest) + 1):
                place = places.get(word[begin:end], -1)
                if place < 0 and end > begin + 1:
                    continue
                score = best[begin][0] + (scores[place] if place >= 0 else unknown)
                if score > best[end][0]:
                    best[end] = (score, begin, place)
        found, end = [], len(word)
        while end > 0:
            found.append(best[end][2])
            end = best[end][1]
        return [place for place in found if place >= 0]

    return lambda text: [place for word in unicodedata.normalize("NFKC", text).split() for place in cut("▁" + word)]


def topics_of(path):
    """A line is a topic: questions | facts that answer them, each separated by slashes."""
    with open(path, encoding="utf-8") as file:
        sides = [line.strip().split(" | ") for line in file if " | " in line and not line.startswith("#")]
    return [[side.split(" / ") for side in pair] for pair in sides]


def concepts_of(path):
    """A line is a concept: its words in each language. Any two of them are a pair."""
    with open(path, encoding="utf-8") as file:
        lines = [line.strip() for line in file if " | " in line and not line.startswith("#")]
    sides = [[word.strip() for words in line.split("|") for word in words.split(",")] for line in lines]
    return [[side, side] for side in sides]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--table", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--topics", nargs="*", default=[])
    parser.add_argument("--concepts", nargs="+", default=[], help="Files such as words.txt")
    parser.add_argument("--runs", type=int, default=1, help="The mean of this many fits, which draw differently")
    parser.add_argument("--share", type=float, default=1, help="How far the vectors move towards that mean")
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--rate", type=float, default=0.02)
    parser.add_argument("--anchor", type=float, default=0.003)
    options = parser.parse_args()
    data, pieces, scores, vectors, unknown = read(options.table)
    cut = cutter(pieces, scores, unknown)
    texts = [topic for path in options.topics for topic in topics_of(path)]
    texts += [concept for path in options.concepts for concept in concepts_of(path)]
    topics = [[[bag for bag in map(cut, side) if bag] for side in topic] for topic in texts]
    topics = [topic for topic in topics if all(topic)]
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)

    class Sampler:
        def __init__(self, seed):
            self.random = np.random.default_rng(seed)

        def draw(self, count, *_):
            # A fact occurs once in a draw: its other questions would count as wrong.
            chosen = {}
            for place in self.random.permutation(len(topics)):
                left, right = (side[self.random.integers(len(side))] for side in topics[place])
                chosen.setdefault(tuple(right), (left, right))
            drawn = list(chosen.values())[:count]
            return [left for left, _ in drawn], [right for _, right in drawn]

    # Signs have no vector, and get none.
    start = (vectors / lengths.clip(1e-6)).astype(np.float32)
    weights = lengths[:, 0].astype(np.float32)
    fits = [
        fit.fit_pieces(start, weights, Sampler(7 + run), options.steps, options.rate, 0, anchor=options.anchor)
        for run in range(options.runs)
    ]
    moved = start + options.share * (np.mean(fits, axis=0) - start)
    write(options.out, data, moved * lengths)


main()
