"""The demo's vectors, shipped so that its first start embeds nothing: `demo/vectors.npz`.

The file holds the embedder's fingerprint and, for passages and for queries, SHA-256 digests (n, 32) of the texts and
their vectors (n, dimension) in float32. Made anew, by hand, with

    python -m workbench.demo_vectors

after the demo's documents, its questions, the parsers, the chunking or the embedder have changed. A text that the file
does not know is embedded as any other; it only takes longer.
"""

from __future__ import annotations

import json
import tempfile
import tomllib
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast, get_args

from core.models.vector_cache import TextRole, VectorCache
from core.types import text_hash

if TYPE_CHECKING:
    from core.home import Workbench

DEMO = Path(__file__).resolve().parent / "demo"
FILE = DEMO / "vectors.npz"
QUESTIONS = Path(__file__).resolve().parents[1] / "eval_sets" / "demo" / "questions.jsonl"
ROLES: tuple[TextRole, ...] = get_args(TextRole)


def give_vectors(home: Path, fingerprint: str) -> bool:
    """Put the shipped vectors into the home's cache; False: they are not of this embedder, or not there to read."""
    import numpy as np

    try:
        with np.load(FILE, allow_pickle=False) as file:
            held = {name: file[name] for name in file.files}
    except (OSError, ValueError, zipfile.BadZipFile):
        return False
    if str(held.get("fingerprint")) != fingerprint:
        return False
    cache = VectorCache(home / "vectors.sqlite")
    for role in ROLES:
        rows = zip(held[f"{role}_hashes"], held[f"{role}_vectors"].astype("<f4"), strict=True)
        cache.keep(fingerprint, role, {key.tobytes().hex(): row.tobytes() for key, row in rows})
    cache.close()
    return True


def make_vectors(workbench: Workbench, collection: str) -> dict[str, Any]:
    """The content of the file: vectors of the collection's indexed texts and of the demo's queries."""
    import numpy as np

    library = workbench.library
    embedder = library.embedder_of(library.collection(collection))
    passages = library.store(collection).since(0).chunks["indexed_text"].to_pylist()
    content: dict[str, Any] = {"fingerprint": np.array(embedder.fingerprint)}
    for role, texts, embed in (
        ("passage", passages, embedder.passages),
        ("query", demo_queries(), embedder.queries),
    ):
        by_hash = dict(sorted((text_hash(text), text) for text in texts))
        keys = b"".join(bytes.fromhex(key) for key in by_hash)
        content[f"{role}_hashes"] = np.frombuffer(keys, np.uint8).reshape(-1, 32)
        content[f"{role}_vectors"] = np.asarray(embed(list(by_hash.values())), "<f4")
    return content


def demo_queries() -> Sequence[str]:
    """The examples that the app offers, and the questions of the demo's eval set."""
    examples = tomllib.loads((DEMO / "collection.toml").read_text("utf-8"))["examples"]
    lines = QUESTIONS.read_text("utf-8").splitlines()
    return [*cast(list[str], examples), *(json.loads(line)["question"] for line in lines)]


def main() -> None:
    """Write the file anew. Minutes of computing."""
    import numpy as np

    from core.home import Workbench

    with tempfile.TemporaryDirectory() as folder:
        workbench = Workbench.open(folder)
        operator = workbench.operator()
        workbench.create_collection("demo", operator)
        workbench.ingest([DEMO / "documents"], "demo", operator, progress=print)
        content = make_vectors(workbench, "demo")
    np.savez_compressed(FILE, **content)
    sizes = {name: len(value) for name, value in content.items() if value.ndim}
    print(f"{FILE}: {FILE.stat().st_size:,} bytes, {sizes}")


if __name__ == "__main__":
    main()
