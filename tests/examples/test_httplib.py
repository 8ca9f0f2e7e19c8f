# SPDX-License-Identifier: Apache-2.0
"""cpp-httplib: callbacks from threads of C++, calls that wait, overloads, lifetime."""

from __future__ import annotations

import gc
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor

import pytest

NAME = "httplib"


@pytest.fixture
def serve(m):
    """`serve(server)` listens on a thread until the test ends; returns a client."""
    running = []

    def serve(server):
        port = server.bind_to_any_port(host="127.0.0.1")
        assert port > 0
        thread = threading.Thread(target=server.listen_after_bind)
        thread.start()
        running.append((server, thread))
        return lambda: m.Client("127.0.0.1", port)

    yield serve
    for server, thread in running:
        server.stop()
        thread.join(10)
        assert not thread.is_alive()


def test_values_cross_in_both_directions(m, serve):
    """Text, headers, parameters; what a handler sets is what the client gets."""

    def handler(request, response):
        assert isinstance(request, m.Request) and isinstance(response, m.Response)
        response.set_header("X-Seen", request.get_header_value("X-Sent"))
        response.set_content(f"{request.method} {request.get_param_value('q')}", "a/b")
        response.status = 203

    client = serve(m.Server().Get("/path", handler))()
    request = m.Request()
    request.method, request.path = "GET", "/path?q=%C3%A4"
    request.set_header(key="X-Sent", val="text")
    answer = client.send(request).value()
    assert (answer.status, answer.body) == (203, "GET ä")
    assert answer.get_header_value("X-Seen") == "text"
    assert answer.get_header_value("Content-Type", id=0) == "a/b"
    assert client.Get("/none").value().status == 404


def test_overloads(m, serve):
    """By the number and by the kinds of arguments, with keywords."""
    server = m.Server()
    server.Post("/text", lambda q, r: r.set_content(q.body.upper(), "text/plain"))

    def upload(request, response):
        file = request.get_file_value("one")
        response.set_content(f"{file.filename} {file.content}", file.content_type)

    client = serve(server.Post(pattern="/files", handler=upload))()
    assert client.Post("/text", "body", "text/plain").value().body == "BODY"
    parts = [m.MultipartFormData(), m.MultipartFormData()]
    parts[0].name, parts[0].content, parts[0].filename = "one", "content", "a.txt"
    parts[1].name, parts[1].content = "two", "2"
    assert client.Post(path="/files", items=parts).value().body == "a.txt content"
    seen = []
    answer = client.Get("/none", progress=lambda done, total: not seen.append(total))
    assert (
        answer
        and answer.value().status == 404
        and all(isinstance(each, int) for each in seen)
    )


def test_handlers_run_on_threads_of_cpp(m, serve):
    """Several at once, while the threads that ask wait without the GIL."""
    idents, together = set(), threading.Barrier(4, timeout=20)

    def handler(request, response):
        idents.add(threading.get_ident())
        together.wait()  # four handlers, or it breaks
        response.set_content(request.path, "text/plain")

    client = serve(m.Server().Get("/.*", handler))
    paths = [f"/{each}" for each in range(4)]
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda path: client().Get(path).value().body, paths))
    assert answers == paths and threading.get_ident() not in idents


def test_an_exception_of_a_handler_is_an_answer(m, serve):
    """cpp-httplib catches what std::exception is, and says its text."""

    def handler(request, response):
        raise LookupError("not today")

    answer = serve(m.Server().Get("/", handler))().Get("/").value()
    assert answer.status == 500
    assert "not today" in answer.get_header_value("EXCEPTION_WHAT")


def test_results_of_callbacks(m, serve):
    """An enum and a bool that C++ waits for."""
    codes = m.Server.HandlerResponse

    def first(request, response):
        response.status = 418
        return codes.Handled if request.path == "/tea" else codes.Unhandled

    server = m.Server().set_pre_routing_handler(first)
    server.Get("/more", lambda q, r: r.set_content("x" * 9, "text/plain"))
    client = serve(server)()
    assert client.Get("/tea").value().status == 418
    assert client.Get("/more").value().body == "x" * 9
    stopped = client.Get("/more", lambda done, total: False)
    assert not stopped and stopped.error() is m.Error.Canceled


def test_no_answer_is_an_error_and_no_crash(m):
    """Nobody listens on the port of a server that was never started."""
    result = m.Client("127.0.0.1", 9).Get("/")
    assert not result and result.error() is m.Error.Connection == 2
    with pytest.raises(RuntimeError, match="no response: "):
        result.value()


def test_wrong_arguments(m, kit):
    """TypeErrors; the kit's name the argument."""
    with pytest.raises(TypeError) as info:
        m.Server().Get("/", 3)
    if kit:
        assert (
            str(info.value) == "[Server.Get] expected a callable for 'handler', got int"
        )
    with pytest.raises(TypeError):
        m.Client("127.0.0.1", "80")
    with pytest.raises(TypeError):
        m.Client("127.0.0.1", 1).Post("/", [1])
    with pytest.raises(TypeError):
        m.Result()


def test_parts_outlive_what_they_were_taken_from(m, serve):
    """An answer keeps its result; a request that a handler keeps is its own."""
    kept = []
    server = m.Server()
    server.Get("/kept", lambda q, r: (kept.append(q), r.set_content("body", "a/b")))
    client = serve(server)
    answer = client().Get("/kept").value()
    gc.collect()
    for _ in range(50):  # what was freed is used again
        client().Get("/none")
    assert answer.body == "body" and kept[0].path == "/kept"


def test_a_server_lets_its_handlers_go(m):
    """With the last reference, and it is the same object that its methods return."""

    class Handler:
        def __call__(self, request, response): ...

    handler = Handler()
    gone = weakref.ref(handler)
    server = m.Server()
    assert server.Get("/", handler) is server
    del handler
    gc.collect()
    assert gone() is not None
    del server
    gc.collect()
    assert gone() is None
