"""Embeddings from any provider that litellm speaks to, or any OpenAI-compatible server."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from core.errors import EmbedderUnavailable
from core.models.fingerprint import e5_prefixes, fingerprint
from core.models.litellm_client import load_litellm, worth_retrying
from core.models.vectors import encodable, unit_rows
from core.ports import Vectors


class LiteLLM:
    """Spec `litellm:provider/model` or `litellm:provider/model@dimension`.

    Address and key come from the environment under the provider's own names: `OPENAI_API_KEY` and `OPENAI_BASE_URL`
    for `openai/…` (also for a local server that speaks the same protocol), `HOSTED_VLLM_API_BASE` for
    `hosted_vllm/…`, `OLLAMA_API_BASE` for `ollama/…`, `COHERE_API_KEY`, `VOYAGE_API_KEY`, `AZURE_API_KEY` with
    `AZURE_API_BASE`, and so on.

    A stated dimension is asked of models that can be asked, and demanded of all. Vectors are scaled to unit length.
    Blank texts are the zero vector and are not sent. E5 models get their prefixes.
    """

    def __init__(
        self,
        model: str,
        dimension: int | None = None,
        *,
        batch: int = 64,
        timeout_s: float = 60.0,
        attempts: int = 3,
        backoff_s: float = 0.5,
    ) -> None:
        """`batch`: texts in one request; `attempts`: requests at most, `backoff_s` doubling between them."""
        self.spec = f"litellm:{model}" if dimension is None else f"litellm:{model}@{dimension}"
        self._model = model
        self._stated = dimension
        self._discovered: int | None = None
        self._batch = batch
        self._timeout_s = timeout_s
        self._attempts = attempts
        self._backoff_s = backoff_s
        self._prefixes = e5_prefixes(model)
        self._lock = threading.Lock()
        self.fingerprint = fingerprint("litellm", {"model": model, "dimension": dimension, "prefixes": self._prefixes})
        """Of what is asked for: a provider shows nothing of its weights."""

    @property
    def dimension(self) -> int:
        """As stated, or as the provider's first answer had it. Raises EmbedderUnavailable."""
        with self._lock:
            known = self._stated or self._discovered
        return known or self._request(["dimension"]).shape[1]

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        return self._embed(texts, self._prefixes[1])

    def embed_query(self, text: str) -> npt.NDArray[np.float32]:
        vector: npt.NDArray[np.float32] = self._embed([text], self._prefixes[0])[0]
        return vector

    def _embed(self, texts: Sequence[str], prefix: str) -> Vectors:
        sent = [at for at, text in enumerate(texts) if text.strip()]
        parts = [
            self._request([prefix + encodable(texts[at]) for at in sent[first : first + self._batch]])
            for first in range(0, len(sent), self._batch)
        ]
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        if parts:
            vectors[sent] = np.concatenate(parts)
        return vectors

    def _request(self, texts: list[str]) -> Vectors:
        rows = _in_order(self._answer(texts), len(texts))
        with self._lock:
            known = self._stated or self._discovered
            vectors = unit_rows(rows, len(rows), known or len(rows[0]), any_length=True)
            self._discovered = vectors.shape[1]
        return vectors

    def _answer(self, texts: list[str]) -> Any:
        try:
            litellm = load_litellm()
        except ImportError as error:
            raise EmbedderUnavailable("litellm is not installed", "pip install litellm") from error
        passing = worth_retrying(litellm)
        for attempt in range(1, self._attempts + 1):
            try:
                return litellm.embedding(
                    model=self._model,
                    input=texts,
                    dimensions=self._stated,
                    drop_params=True,
                    timeout=self._timeout_s,
                    max_retries=0,
                ).data
            except Exception as error:  # providers raise many kinds; the text may hold keys or inputs, so it stays out
                if attempt == self._attempts or not isinstance(error, passing):
                    raise self._failure(error) from error
                time.sleep(self._backoff_s * 2 ** (attempt - 1))
        raise AssertionError("attempts is at least 1")

    def _failure(self, error: Exception) -> EmbedderUnavailable:
        status = getattr(error, "status_code", None)
        what = type(error).__name__ if status is None else f"{type(error).__name__}, status {status}"
        return EmbedderUnavailable(
            f"{self.spec} did not answer ({what})",
            "check the model's name and the provider's address and key in the environment",
        )


def _in_order(data: Any, count: int) -> list[list[float]]:
    """The vectors in the order of the texts. Raises EmbedderUnavailable where some are missing or doubled."""
    try:
        rows = [dict(item) for item in data]
        stated = [row.get("index") for row in rows]
        order: list[Any] = list(range(count)) if all(index is None for index in stated) else stated
        if len(rows) == count and sorted(order) == list(range(count)):
            placed = dict(zip(order, rows, strict=True))
            return [list(placed[at]["embedding"]) for at in range(count)]
    except (TypeError, ValueError, KeyError):
        pass
    raise EmbedderUnavailable(f"the provider's answer does not hold one vector for each of {count} texts", "try again")
