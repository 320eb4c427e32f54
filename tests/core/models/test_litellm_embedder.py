"""The litellm embedder over HTTP, against a server on loopback."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from core.errors import EmbedderUnavailable
from core.models.hash_embedder import HashEmbedder
from core.models.litellm_embedder import LiteLLM
from tests.support.openai_server import OpenAIServer, openai_server

MODEL = "openai/test-embedding"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[OpenAIServer]:
    for proxy in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(proxy, raising=False)
    with openai_server() as running:
        monkeypatch.setenv("OPENAI_BASE_URL", running.url)
        monkeypatch.setenv("OPENAI_API_BASE", running.url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-test-secret")
        yield running


def test_vectors_come_in_batches_in_order_with_the_key_of_the_environment(server: OpenAIServer) -> None:
    embedder = LiteLLM(MODEL, batch=3)
    texts = [f"text {number}" for number in range(7)]
    assert embedder.embed_passages(texts).tobytes() == HashEmbedder(8).embed_passages(texts).tobytes()
    assert [body["input"] for _, body in server.requests] == [texts[:3], texts[3:6], texts[6:]]
    assert {path for path, _ in server.requests} == {"/v1/embeddings"}
    assert {body["model"] for _, body in server.requests} == {"test-embedding"}
    assert set(server.keys) == {"Bearer sk-test-secret"}
    assert embedder.embed_query("text 3").tobytes() == HashEmbedder(8).embed_query("text 3").tobytes()
    assert embedder.dimension == 8
    assert len(server.requests) == 4


def test_the_dimension_is_discovered_or_stated(server: OpenAIServer) -> None:
    assert LiteLLM(MODEL).dimension == 8
    assert len(server.requests) == 1
    assert LiteLLM(MODEL, 8).dimension == 8
    assert len(server.requests) == 1
    with pytest.raises(EmbedderUnavailable):
        LiteLLM(MODEL, 16).embed_query("x")


def test_a_model_that_can_be_asked_is_asked_for_the_stated_dimension(server: OpenAIServer) -> None:
    embedder = LiteLLM("openai/text-embedding-3-small", 16)
    assert embedder.embed_query("x").shape == (16,)
    assert server.requests[0][1]["dimensions"] == 16


def test_blank_texts_are_zero_and_never_sent(server: OpenAIServer) -> None:
    rows = LiteLLM(MODEL).embed_passages(["", "word", " \n"])
    assert rows.any(axis=1).tolist() == [False, True, False]
    assert [body["input"] for _, body in server.requests] == [["word"]]
    assert LiteLLM(MODEL, 8).embed_passages([]).shape == (0, 8)
    assert LiteLLM(MODEL, 8).embed_passages([""]).shape == (1, 8)
    assert len(server.requests) == 1


def test_e5_models_get_their_prefixes(server: OpenAIServer) -> None:
    embedder = LiteLLM("openai/intfloat/multilingual-e5-large")
    embedder.embed_passages(["a"])
    embedder.embed_query("b")
    assert [body["input"] for _, body in server.requests] == [["passage: a"], ["query: b"]]


def test_vectors_of_another_length_and_order_are_put_right(server: OpenAIServer) -> None:
    def scaled_and_reversed(answer: dict[str, Any]) -> dict[str, Any]:
        for item in answer["data"]:
            item["embedding"] = [5 * value for value in item["embedding"]]
        return {**answer, "data": answer["data"][::-1]}

    server.rewrite = scaled_and_reversed
    texts = ["one", "two", "three"]
    assert np.allclose(LiteLLM(MODEL).embed_passages(texts), HashEmbedder(8).embed_passages(texts), atol=1e-6)


@pytest.mark.parametrize("statuses", [[429], [500, 503], [502, 429]])
def test_passing_failures_are_tried_again(server: OpenAIServer, statuses: list[int]) -> None:
    server.failures = list(statuses)
    assert LiteLLM(MODEL, backoff_s=0).embed_query("x").shape == (8,)
    assert len(server.requests) == len(statuses) + 1


@pytest.mark.parametrize(("status", "requests"), [(500, 3), (429, 3), (401, 1), (400, 1), (404, 1)])
def test_lasting_failures_end_bounded_without_key_or_text(server: OpenAIServer, status: int, requests: int) -> None:
    server.failures = [status] * 10
    with pytest.raises(EmbedderUnavailable) as caught:
        LiteLLM(MODEL, backoff_s=0).embed_query("a private question")
    assert len(server.requests) == requests
    assert "environment" in caught.value.line()
    assert "sk-test" not in caught.value.line()
    assert "private" not in caught.value.line()


def test_a_server_that_is_not_there(server: OpenAIServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("OPENAI_API_BASE", "http://127.0.0.1:9/v1")
    with pytest.raises(EmbedderUnavailable):
        LiteLLM(MODEL, backoff_s=0).embed_query("x")


def _first(change: Callable[[dict[str, Any]], Any]) -> Callable[[dict[str, Any]], Any]:
    def rewrite(answer: dict[str, Any]) -> dict[str, Any]:
        change(answer["data"][0])
        return answer

    return rewrite


WRONG: dict[str, Callable[[dict[str, Any]], Any]] = {
    "one vector short": lambda answer: {**answer, "data": answer["data"][:-1]},
    "one vector more": lambda answer: {**answer, "data": [*answer["data"], {**answer["data"][0], "index": 2}]},
    "an index twice": _first(lambda item: item.update(index=1)),
    "an index beyond": _first(lambda item: item.update(index=7)),
    "unequal lengths": _first(lambda item: item["embedding"].append(0.5)),
    "no numbers": _first(lambda item: item["embedding"].clear()),
    "NaN": _first(lambda item: item["embedding"].__setitem__(0, float("nan"))),
    "infinity": _first(lambda item: item["embedding"].__setitem__(0, float("inf"))),
    "words": _first(lambda item: item.update(embedding=["a"] * 8)),
    "no data": lambda answer: {**answer, "data": []},
    "no answer": lambda answer: {"object": "list"},
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_answer_is_no_vector(server: OpenAIServer, wrong: str) -> None:
    server.rewrite = WRONG[wrong]
    with pytest.raises(EmbedderUnavailable):
        LiteLLM(MODEL, attempts=1).embed_passages(["one", "two"])


def test_a_dimension_that_changes_between_calls_is_refused(server: OpenAIServer) -> None:
    embedder = LiteLLM(MODEL)
    embedder.embed_query("x")
    server.dimension = 9
    with pytest.raises(EmbedderUnavailable):
        embedder.embed_query("x")


@pytest.mark.filterwarnings(r"ignore:Item '\w+' on TypedDict class:UserWarning")
def test_the_server_of_the_tests_also_completes_and_streams(server: OpenAIServer) -> None:
    from core.models.litellm_client import load_litellm

    litellm = load_litellm()
    server.replies = [["whole ", "answer"], ["in ", "pieces"]]
    messages = [{"role": "user", "content": "hello"}]
    whole = litellm.completion(model="openai/test-chat", messages=messages, max_retries=0)
    assert whole.choices[0].message.content == "whole answer"
    stream = litellm.completion(model="openai/test-chat", messages=messages, stream=True, max_retries=0)
    pieces = [chunk.choices[0].delta.content for chunk in stream]
    assert [piece for piece in pieces if piece] == ["in ", "pieces"]
