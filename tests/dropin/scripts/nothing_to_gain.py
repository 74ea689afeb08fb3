"""Many short functions, text and files: nothing that compiled code could do better."""

import collections
import io
import json
import re


def words(text):
    return [w.lower() for w in re.findall(r"[A-Za-z]+", text)]


def counted(texts):
    counts = collections.Counter()
    for text in texts:
        counts.update(words(text))
    return counts


def key(pair):
    return (-pair[1], pair[0])


def add(a, b):
    return (a * b + a - b) % 1000


texts = ["The quick brown fox", "jumps over the lazy dog", "The dog sleeps"] * 500
print(sorted(counted(texts).items(), key=key)[:4])
total = 0
for k in range(200_000):
    total = add(total, k)
print(total)
file = io.StringIO()
json.dump({"words": counted(texts)}, file)
print(len(file.getvalue()), hash(add) is not None)
