# SPDX-License-Identifier: Apache-2.0
"""cpp-httplib from Python: its threads call Python, Python waits for its answers."""

import threading
from concurrent.futures import ThreadPoolExecutor

from httplib import Client, Error, MultipartFormData, Request, Response, Server

log: list[tuple[str, int]] = []
threads: set[int] = set()
ranges: list[tuple[int, int]] = []
HandlerResponse = Server.HandlerResponse


def greet(request: Request, response: Response) -> None:
    threads.add(threading.get_ident())
    ranges.extend(request.ranges)
    response.set_content(f"Hello {request.get_param_value('name')}", "text/plain")


def fail(request: Request, response: Response) -> None:
    raise LookupError("nobody is at home")


def upload(request: Request, response: Response) -> None:
    file = request.get_file_value("file")
    response.set_content(f"{file.filename}: {len(file.content)}", "text/plain")


def teapot(request: Request, response: Response) -> Server.HandlerResponse:
    if request.path != "/coffee":
        return HandlerResponse.Unhandled
    response.status = 418
    return HandlerResponse.Handled


def ask(port: int, name: object) -> str:
    return Client("127.0.0.1", port).Get(f"/greet?name={name}").value().body


def main() -> None:
    server = Server()
    server.Get("/greet", greet).Get("/fail", fail).Post("/upload", upload)
    server.Post("/echo", lambda q, r: r.set_content(q.body, "text/plain"))
    server.Get("/old", lambda request, response: response.set_redirect(url="/greet"))
    server.set_pre_routing_handler(teapot)
    server.set_logger(lambda q, r: log.append((q.path, r.status)))
    port = server.bind_to_any_port("127.0.0.1")
    listening = threading.Thread(target=server.listen_after_bind)
    listening.start()
    try:
        client = Client("127.0.0.1", port)
        answer = client.Get("/greet?name=Ada")
        assert answer and answer.value().status == 200
        assert answer.value().body == "Hello Ada"
        assert threads and threading.get_ident() not in threads
        assert client.Get(path="/coffee").value().status == 418
        assert client.Get("/old").value().get_header_value("Location") == "/greet"

        # An exception of a handler becomes an answer, by cpp-httplib's own rule.
        failed = client.Get("/fail").value()
        assert failed.status == 500
        assert "nobody is at home" in failed.get_header_value("EXCEPTION_WHAT")

        # Overloads: text, a list of files; a callback that may stop a transfer.
        assert client.Post("/echo", "text", "text/plain").value().body == "text"
        part = MultipartFormData()
        part.name, part.filename, part.content = "file", "a.txt", "12345"
        assert client.Post("/upload", [part]).value().body == "a.txt: 5"
        assert client.Get("/greet", lambda done, total: False).error() is Error.Canceled

        request = Request()
        request.method, request.path = "GET", "/greet?name=Ada"
        request.set_header("Range", "bytes=0-4")
        partial = client.send(request).value()
        assert partial.status == 206 and partial.body == "Hello" and ranges == [(0, 4)]

        # Eight at once: each waits without the GIL, or none would be answered.
        with ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(lambda each: ask(port, each), range(8)))
        assert answers == [f"Hello {each}" for each in range(8)]
        assert ("/greet", 200) in log and ("/fail", 500) in log
    finally:
        server.stop()
        listening.join()

    nothing = client.Get("/greet")
    assert not nothing and nothing.error() is Error.Connection
    try:
        nothing.value()
    except RuntimeError as error:
        assert str(error).startswith("no response: ")
    else:
        raise AssertionError("no server, no value")


main()
