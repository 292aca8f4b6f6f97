"""Hit rates and latencies of mem0's library on a set of facts and questions, with the same embedding server.

Usage: mem0_recall.py <set.json> <base URL of an OpenAI-compatible API> <folder>
"""
import json
import os
import statistics
import sys
import time

os.environ["MEM0_TELEMETRY"] = "False"
os.environ["OPENAI_API_KEY"] = "unused"
from mem0 import Memory  # noqa: E402

source, url, folder = sys.argv[1:]
memory = Memory.from_config(
    {
        "embedder": {"provider": "openai", "config": {"model": "e5-passage", "openai_base_url": url, "embedding_dims": 384}},
        "vector_store": {"provider": "qdrant", "config": {"path": folder, "embedding_model_dims": 384}},
        "history_db_path": os.path.join(folder, "history.db"),
    }
)
hits, times = {}, {"add": [], "search": []}


def timed(kind, work):
    since = time.perf_counter()
    result = work()
    times[kind].append((time.perf_counter() - since) * 1000)
    return result


def search(question, user):
    try:
        return memory.search(question, filters={"user_id": user}, top_k=5)
    except TypeError:
        return memory.search(question, user_id=user, limit=5)


for person in json.load(open(source, encoding="utf-8")):
    user = person["name"].replace(" ", "-")
    for fact in person["facts"]:
        timed("add", lambda: memory.add(fact, user_id=user, infer=False))
    for question in person["questions"]:
        found = [item["memory"] for item in timed("search", lambda: search(question["question"], user))["results"]]
        count = hits.setdefault(question["kind"], [0, 0, 0])
        count[0] += 1
        count[1] += found[:1] == [question["answer"]]
        count[2] += question["answer"] in found
for kind, (questions, first, five) in hits.items():
    print(kind, questions, f"{first / questions:.3f} / {five / questions:.3f}")
for kind, values in times.items():
    print(kind, f"median {statistics.median(values):.1f} ms, p95 {sorted(values)[int(len(values) * 0.95)]:.1f} ms")
