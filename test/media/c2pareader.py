"""Prints what c2pa-python, which is not ours, reads in files: `c2pareader.py <PEM of the root> <file>…`. One JSON document per line."""
import json
import sys

import c2pa

root, *files = sys.argv[1:]
with open(root) as anchors:
    settings = c2pa.Settings.from_dict({"trust": {"trust_anchors": anchors.read()}, "verify": {"verify_trust": True}})
for file in files:
    try:
        store = json.loads(c2pa.Reader(file, context=c2pa.Context(settings)).json())
        print(json.dumps({"state": store["validation_state"], "manifest": store["manifests"][store["active_manifest"]]}))
    except c2pa.C2paError as error:
        print(json.dumps({"state": type(error).__name__}))
