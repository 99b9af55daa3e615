"""Three things from the standard library, measured in a tenth of a second."""

import hashlib
import json
import random

from ankerl_py import Bench

# How fast is hashing? The unit makes the columns ns/byte and byte/s.
data = random.Random(1).randbytes(1024)
hashes = Bench().title("hashing 1 KiB").unit("byte").batch(len(data)).relative()
hashes.run("sha256", lambda: hashlib.sha256(data).digest())
hashes.run("md5", lambda: hashlib.md5(data).digest())
hashes.run("blake2b", lambda: hashlib.blake2b(data).digest())

# How fast is JSON? A statement can be measured as well as a callable.
document = {"users": [{"id": i, "name": f"user {i}", "tags": ["a", "b"]} for i in range(20)]}
text = json.dumps(document)
documents = Bench().title("JSON").unit("char").batch(len(text))
documents.run("json.dumps", lambda: json.dumps(document))
documents.run("json.loads", "json.loads(text)", globals=globals())

# How fast is sorting, and does it matter what is sorted?
numbers = list(range(1000))
shuffled = random.Random(1).sample(numbers, len(numbers))
descending = numbers[::-1]
sorting = Bench().title("sorting 1000 numbers").time_unit("us").relative()
sorting.run("shuffled", lambda: sorted(shuffled))
sorting.run("sorted", lambda: sorted(numbers))
sorting.run("descending", lambda: sorted(descending))

# Results are values: figures can be had without reading a table.
best = min(hashes.results, key=lambda result: result.median("elapsed"))
print(f"\nThe fastest hash is {best.name}: {best.median('elapsed') * 1e9:.0f} ns a call.")
