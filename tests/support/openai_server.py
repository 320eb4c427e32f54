"""A small OpenAI-compatible server on loopback: embeddings, and chat completions whole or streamed.

with openai_server() as server:
    server.url          # ends in /v1
    server.requests     # (path, body) of every request so far
    server.failures     # statuses to answer with, first come first served, before any success
    server.replies      # pieces of text for the chat completions to come, one list a request
    server.rewrite      # changes the JSON of an embeddings answer before it is sent
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from core.models.hash_embedder import HashEmbedder


@dataclass
class OpenAIServer:
    dimension: int = 8
    url: str = ""
    requests: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    """The `Authorization` header of every request."""
    failures: list[int] = field(default_factory=list)
    replies: list[list[str]] = field(default_factory=list)
    rewrite: Callable[[dict[str, Any]], Any] = lambda answer: answer

    def embeddings(self, body: dict[str, Any]) -> Any:
        texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
        vectors = HashEmbedder(body.get("dimensions") or self.dimension).embed_passages(texts)
        data = [
            {"object": "embedding", "index": at, "embedding": [float(value) for value in vector]}
            for at, vector in enumerate(vectors)
        ]
        usage = {"prompt_tokens": len(texts), "total_tokens": len(texts)}
        return self.rewrite({"object": "list", "model": body["model"], "data": data, "usage": usage})

    def completion(self, body: dict[str, Any], pieces: list[str]) -> dict[str, Any]:
        message = {"role": "assistant", "content": "".join(pieces)}
        return {
            **_envelope(body, "chat.completion"),
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 1, "completion_tokens": len(pieces), "total_tokens": 1 + len(pieces)},
        }

    def events(self, body: dict[str, Any], pieces: list[str]) -> Iterator[dict[str, Any]]:
        deltas: list[tuple[dict[str, str], str | None]] = [
            ({"role": "assistant", "content": ""}, None),
            *(({"content": piece}, None) for piece in pieces),
            ({}, "stop"),
        ]
        for delta, finish in deltas:
            choice = {"index": 0, "delta": delta, "finish_reason": finish}
            yield {**_envelope(body, "chat.completion.chunk"), "choices": [choice]}


def _envelope(body: dict[str, Any], kind: str) -> dict[str, Any]:
    return {"id": "chatcmpl-test", "object": kind, "created": 1, "model": body["model"]}


@contextmanager
def openai_server(dimension: int = 8) -> Iterator[OpenAIServer]:
    state = OpenAIServer(dimension)
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(state))
    server.daemon_threads = True
    state.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _handler(state: OpenAIServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            state.requests.append((self.path, body))
            state.keys.append(self.headers.get("Authorization", ""))
            if state.failures:
                self._json(state.failures.pop(0), {"error": {"message": "told to fail", "type": "test"}})
            elif self.path == "/v1/embeddings":
                self._json(200, state.embeddings(body))
            elif self.path == "/v1/chat/completions":
                pieces = state.replies.pop(0) if state.replies else ["no reply was prepared"]
                if body.get("stream"):
                    self._stream(state.events(body, pieces))
                else:
                    self._json(200, state.completion(body, pieces))
            else:
                self._json(404, {"error": {"message": "no such path", "type": "test"}})

        def _json(self, status: int, value: Any) -> None:
            content = json.dumps(value).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def _stream(self, events: Iterator[dict[str, Any]]) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.end_headers()
            for event in events:
                self.wfile.write(f"data: {json.dumps(event)}\n\n".encode())
                self.wfile.flush()
            self.wfile.write(b"data: [DONE]\n\n")

        def log_message(self, format: str, *args: object) -> None:
            pass

    return Handler
