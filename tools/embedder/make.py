"""Makes src/memory/embedding/table.bin; README.md has the command."""
import argparse
import os
import struct

import numpy as np

import fit
import vocabulary
from teacher import Teacher
from texts import Sampler

HEADER_BYTES = 32


def word_vectors(teacher, ids):
    out = np.zeros((len(ids), teacher.dimensions), np.float32)
    for place, id in enumerate(ids):
        teacher.input_embedding(id, out[place])
    return out


def teach(teacher, ids, path, batch=2000):
    """The teacher's vectors of single pieces as queries. Goes on where a run before stopped."""
    prefix = teacher.tokens("query: ")[:3]
    done = np.load(path) if os.path.exists(path) else np.zeros((0, teacher.dimensions), np.float32)
    while len(done) < len(ids):
        part = ids[len(done) : len(done) + batch]
        done = np.vstack([done, teacher.embed_ids([[*prefix, id] for id in part])])
        np.save(path, done)
        print("teacher", len(done), flush=True)
    return done[: len(ids)]


def language_shares(ids, pieces, by_language):
    columns = [*by_language, "th"]
    shares = np.zeros((len(ids), len(columns)))
    for column, counts in enumerate(by_language.values()):
        total = sum(counts.values())
        shares[:, column] = [counts.get(id, 0) / total for id in ids]
    for row, id in enumerate(ids):
        if vocabulary.THAI.search(pieces[id][0]):
            shares[row] = 0
            shares[row, -1] = 1
    sums = shares.sum(1, keepdims=True)
    return np.where(sums > 0, shares / np.where(sums > 0, sums, 1), 1 / len(columns))


def write(path, vectors, ids, pieces):
    """Header, scores, scales, 8-bit vectors, pieces joined by line feeds."""
    scales = (np.abs(vectors).max(1).clip(1e-9) / 127).astype(np.float32)
    small = np.rint(vectors / scales[:, None]).clip(-127, 127).astype(np.int8)
    scores = np.array([pieces[id][1] for id in ids], np.float32)
    unknown = min(score for _, score in pieces) - 10
    header = b"ATLEMB01" + struct.pack("<IIf", len(ids), vectors.shape[1], unknown)
    with open(path, "wb") as file:
        file.write(header.ljust(HEADER_BYTES, b"\0"))
        file.write(scores.tobytes() + scales.tobytes() + small.tobytes())
        file.write("\n".join(pieces[id][0] for id in ids).encode("utf-8"))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cldr", required=True, help="folder with the three cldr packages")
    parser.add_argument("--work", required=True, help="folder for what is computed on the way")
    parser.add_argument("--out", required=True)
    parser.add_argument("--dimensions", type=int, default=192)
    parser.add_argument("--taught", type=int, default=42_000, help="pieces that pass through the teacher")
    parser.add_argument("--smoothing", type=float, default=3e-4, help="a of the weight a / (a + frequency) while fitting")
    parser.add_argument("--final-smoothing", type=float, default=6e-4, help="the same for the weights in the table")
    parser.add_argument("--projection-steps", type=int, default=200)
    parser.add_argument("--steps", type=int, default=900)
    parser.add_argument("--rate", type=float, default=0.01)
    parser.add_argument("--common", type=int, default=3, help="most common words strewn into a text")
    options = parser.parse_args()

    teacher = Teacher()
    pieces = teacher.pieces()
    by_language = vocabulary.frequencies(teacher)
    order, best = vocabulary.ranked(pieces, by_language)
    # German writes nouns with a capital.
    cased, _ = vocabulary.ranked(pieces, vocabulary.frequencies(teacher, capitalized=1))
    ids = vocabulary.choose(pieces, cased)
    rank = {id: place for place, id in enumerate(order)}
    ids.sort(key=lambda id: rank.get(id, len(order)))
    places = {id: place for place, id in enumerate(ids)}
    taught_ids = order[: options.taught]
    print("pieces", len(ids), flush=True)

    taught = teach(teacher, taught_ids, os.path.join(options.work, "taught.npy"))
    # Those that the table leaves out help to estimate too.
    everything = [*taught_ids, *(id for id in ids if rank.get(id, len(order)) >= options.taught)]
    row = {id: place for place, id in enumerate(everything)}
    vectors = fit.estimate(word_vectors(teacher, everything), taught)[[row[id] for id in ids]]
    vectors = fit.unlanguage(vectors, language_shares(ids, pieces, by_language))
    vectors = fit.whiten(vectors, min(options.taught, len(ids)))
    frequency = np.array([best.get(id, 0) for id in ids])
    weights = (options.smoothing / (options.smoothing + frequency)).astype(np.float32)

    def bag(text):
        return [places[id] for id in teacher.tokens(text) if id in places]

    # Signs carry no meaning of their own.
    is_sign = np.array([not any(character.isalnum() for character in pieces[id][0]) and len(pieces[id][0].encode()) < 4 for id in ids])

    def save(fitted):
        out = fitted * (options.final_smoothing / (options.final_smoothing + frequency)).astype(np.float32)[:, None]
        out[is_sign] = 0
        write(options.out, out, ids, pieces)

    sampler = Sampler(options.cldr, bag, seed=7)
    start = fit.fit_projection(vectors, weights, sampler, options.dimensions, options.projection_steps)
    save(start)
    fitted = fit.fit_pieces(start, weights, sampler, options.steps, options.rate, options.common, saved=save)
    save(fitted)


main()
