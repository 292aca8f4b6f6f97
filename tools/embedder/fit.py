"""From the teacher's vectors of pieces to the table's, so that texts that mean the same are near each other."""
import time

import numpy as np
from scipy import sparse


def estimate(inputs, outputs):
    """Fills rows of `outputs` that are missing at its end, by ridge regression on the input embeddings."""
    features = inputs / np.linalg.norm(inputs, axis=1, keepdims=True).clip(1e-6)
    features = np.hstack([features, np.ones((len(features), 1), np.float32)])
    known = features[: len(outputs)]
    weights = np.linalg.solve(known.T @ known + 0.5 * np.eye(known.shape[1]), known.T @ outputs)
    return np.vstack([outputs, features[len(outputs) :] @ weights])


def unlanguage(vectors, shares):
    """Takes away what pieces of one language have in common. `shares`: how much a piece belongs to each language."""
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    means = np.linalg.solve(shares.T @ shares + 10 * np.eye(shares.shape[1]), shares.T @ unit)
    unit = unit - shares @ means
    return unit / np.linalg.norm(unit, axis=1, keepdims=True)


def whiten(vectors, basis_rows, power=0.5):
    """Rotates to principal components and evens out how much they say."""
    _, spread, axes = np.linalg.svd(vectors[:basis_rows], full_matrices=False)
    rotated = (vectors @ axes.T) * (spread / spread[0]) ** -power
    return (rotated / np.linalg.norm(rotated, axis=1, keepdims=True)).astype(np.float32)


def bags_to_matrix(bags, weights):
    rows = np.repeat(np.arange(len(bags)), [len(bag) for bag in bags])
    columns = np.concatenate([np.asarray(bag, int) for bag in bags])
    return sparse.csr_matrix((weights[columns], (rows, columns)), shape=(len(bags), len(weights)))


def contrast(left, right, temperature):
    """Loss of telling each pair from all others, and its gradients."""
    left_length = np.linalg.norm(left, axis=1, keepdims=True).clip(1e-6)
    right_length = np.linalg.norm(right, axis=1, keepdims=True).clip(1e-6)
    a, b = left / left_length, right / right_length
    scores = a @ b.T / temperature

    def softmax(values):
        powers = np.exp(values - values.max(1, keepdims=True))
        return powers / powers.sum(1, keepdims=True)

    forth, back = softmax(scores), softmax(scores.T).T
    loss = -np.log(np.diag(forth).clip(1e-9)).mean()
    gradient = forth + back
    gradient[np.diag_indices(len(a))] -= 2
    gradient /= 2 * len(a) * temperature
    to_a, to_b = gradient @ b, gradient.T @ a
    to_a = (to_a - a * (to_a * a).sum(1, keepdims=True)) / left_length
    to_b = (to_b - b * (to_b * b).sum(1, keepdims=True)) / right_length
    return loss, to_a, to_b


def fit_projection(vectors, weights, sampler, dimensions, steps, rate=1e-3, temperature=0.07):
    """A linear map for all pieces, those that no text has included."""
    projection = np.eye(vectors.shape[1], dimensions, dtype=np.float32)
    mean, square = np.zeros_like(projection), np.zeros_like(projection)
    for step in range(1, steps + 1):
        left, right = (bags_to_matrix(bags, weights) @ vectors for bags in sampler.draw(768, 1, 0))
        loss, to_left, to_right = contrast(left @ projection, right @ projection, temperature)
        gradient = left.T @ to_left + right.T @ to_right
        mean += 0.1 * (gradient - mean)
        square += 0.001 * (gradient * gradient - square)
        projection -= rate * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.999**step)) + 1e-8)
        if step % 100 == 0:
            print("projection", step, round(float(loss), 3), flush=True)
    projected = vectors @ projection
    return projected / np.linalg.norm(projected, axis=1, keepdims=True)


def fit_pieces(start, weights, sampler, steps, rate, most_common, anchor=0.002, temperature=0.06, saved=None):
    """Moves pieces that texts have, held near where they started."""
    vectors = start.copy()
    mean = np.zeros_like(vectors)
    square, seen = np.zeros((len(vectors), 1), np.float32), np.zeros((len(vectors), 1), np.float32)
    since = time.time()
    for step in range(steps):
        bags = sampler.draw(512, 2, most_common)
        left, right = (bags_to_matrix(one, weights) for one in bags)
        loss, to_left, to_right = contrast(left @ vectors, right @ vectors, temperature)
        both = sparse.vstack([left, right]).tocsc()
        rows = np.flatnonzero(np.diff(both.indptr))
        gradient = (both[:, rows].T @ np.vstack([to_left, to_right])) / np.maximum(weights[rows, None], 0.02)
        seen[rows] += 1
        mean[rows] += 0.2 * (gradient - mean[rows])
        square[rows] += 0.02 * ((gradient * gradient).mean(1, keepdims=True) - square[rows])
        count = seen[rows]
        move = (mean[rows] / (1 - 0.8**count)) / (np.sqrt(square[rows] / (1 - 0.98**count)) + 1e-7)
        vectors[rows] -= rate * (1 - step / steps) * move + anchor * (vectors[rows] - start[rows])
        if step % 100 == 0:
            print("pieces", step, round(float(loss), 3), round(time.time() - since), flush=True)
        if saved is not None and step % 100 == 99:
            saved(vectors)
    return vectors
