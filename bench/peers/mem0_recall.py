"""Hit rates and latencies of the library mem0 on facts and questions, as one line of JSON.

Usage: mem0_recall.py <file with people> <base URL of an OpenAI-compatible API> <dimensions> <empty folder>
"""
import json
import os
import sys
import time

os.environ["MEM0_TELEMETRY"] = "False"
os.environ["OPENAI_API_KEY"] = "unused"
from mem0 import Memory  # noqa: E402

source, url, dimensions, folder = sys.argv[1:]
embedder = {"model": "passage", "openai_base_url": url, "embedding_dims": int(dimensions)}
store = {"path": folder, "embedding_model_dims": int(dimensions)}
memory = Memory.from_config(
    {
        "embedder": {"provider": "openai", "config": embedder},
        "vector_store": {"provider": "qdrant", "config": store},
        "history_db_path": os.path.join(folder, "history.db"),
    }
)
times = {"add": [], "search": []}
found = []


def timed(kind, work):
    since = time.perf_counter()
    result = work()
    times[kind].append((time.perf_counter() - since) * 1000)
    return result


for person in json.load(open(source, encoding="utf-8")):
    user = person["name"].replace(" ", "-")
    for fact in person["facts"]:
        timed("add", lambda: memory.add(fact, user_id=user, infer=False))
    for question in person["questions"]:
        result = timed("search", lambda: memory.search(question["question"], filters={"user_id": user}, top_k=5))
        found.append([item["memory"] for item in result["results"]])
print(json.dumps({"found": found, "times": times}))
