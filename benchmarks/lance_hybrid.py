"""LanceDB's own hybrid search, as its documentation has it: full-text index, vector search, RRFReranker."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Array = npt.NDArray[Any]


def make_table(
    folder: Path,
    ids: Sequence[str],
    texts: Sequence[str],
    vectors: Array,
    *,
    tokenizer: str = "simple",
    columns: Mapping[str, Sequence[Any]] | None = None,
) -> Any:
    """A table with a full-text index of default settings but for `tokenizer`. `columns`: more, to filter by."""
    import lancedb
    from lancedb.index import FTS

    flat = pa.FixedSizeListArray.from_arrays(pa.array(vectors.reshape(-1)), vectors.shape[1])
    content = {"id": list(ids), "text": list(texts), "vector": flat, **(columns or {})}
    table = lancedb.connect(folder).create_table("documents", pa.table(content))
    table.create_index("text", config=FTS(base_tokenizer=tokenizer))
    return table


def make_filter_index(table: Any, column: str) -> None:
    from lancedb.index import Bitmap

    table.create_index(column, config=Bitmap())


def make_vector_index(table: Any) -> None:
    """One HNSW graph over scalar-quantised vectors. From then on `search` uses it."""
    from lancedb.index import HnswSq

    table.create_index("vector", config=HnswSq(distance_type="cosine", num_partitions=1))


def search(table: Any, query: str, vector: Array, limit: int, where: str | None = None) -> list[str]:
    """Ids, best first. `limit` is how many each of the two searches gives to the fusion, and how many come back."""
    from lancedb.rerankers import RRFReranker

    request = table.search(query_type="hybrid").text(query).vector(np.asarray(vector)).distance_type("cosine")
    request = request.limit(limit).select(["id"]).rerank(RRFReranker())
    found: list[str] = (request.where(where) if where else request).to_arrow()["id"].to_pylist()
    return found


def search_forgiving(table: Any, query: str, vector: Array, limit: int) -> tuple[list[str], bool]:
    """As `search`; where the query raises, once more with words and spaces alone. The flag says that it raised."""
    try:
        return search(table, query, vector, limit), False
    except Exception:  # of what kind is not documented
        return search(table, re.sub(r"[^\w\s]", " ", query), vector, limit), True
