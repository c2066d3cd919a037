"""What a server may do to a client: name -> a function that answers one request.

Each gets the connection, the request, the honest answer and its own random numbers, so that a script is the same again
whoever asks first. What is not in the honest answer is never a valid other answer: exit 0 must mean the truth.
"""

import json
import random
from collections.abc import Callable

from campaign.false_documents import FALSE_DOCUMENTS, MIB
from campaign.wire import Asked, Connection, Honest, answer


def _error(text: str) -> bytes:
    return json.dumps({"errors": [{"code": "DENIED", "message": text}]}).encode()


_RETRY_AFTER = (
    *("0", "1", "3600", "-5", "1e3", "soon", "9" * 400, "99999999999", ""),
    *("Wed, 21 Oct 2099 07:28:00 GMT", "Wed, 21 Oct 1999 07:28:00 GMT", "\u00b2", "0x10"),
)


def busy(wire: Connection, asked: Asked, honest: Honest, drawn: random.Random) -> None:
    """429 or 503 with an odd Retry-After."""
    headers = [("Retry-After", drawn.choice(_RETRY_AFTER))] * drawn.choice([0, 1, 1, 2])
    answer(wire, asked, drawn.choice([429, 503]), headers, _error("slow down"))


def status(wire: Connection, asked: Asked, honest: Honest, drawn: random.Random) -> None:
    code = drawn.choice(
        [204, 205, 206, 300, 304, 400, 403, 405, 408, 410, 418, 451, 500, 501, 502, 504, 599, 999]
    )
    body = drawn.choice(
        [b"", b"<html>\x1b[31mno\x1b[0m</html>", _error("no\u202e \x9b31m::error::x"), b"\xff" * 99]
    )
    answer(wire, asked, code, [], b"" if code in {204, 304} else body)


def unauthorized(wire: Connection, asked: Asked, honest: Honest, drawn: random.Random) -> None:
    """401 again and again, with challenges that lead nowhere."""
    here = f"http://127.0.0.1:{asked.port}"
    challenge = drawn.choice(
        [
            "",
            "Basic",
            'Basic realm="x"',
            "Bearer",
            f'Bearer realm="{here}/token",service="x",scope="repository:a:pull"',
            f'Bearer realm="{here}/token",error="insufficient_scope"',
            'Bearer realm="http://169.254.169.254/latest"',
            'Bearer realm="file:///etc/passwd"',
            'Bearer realm="http://[::1"',
            'Bearer realm="\u00ff",x',
            "Negotiate, " * 3000,
            'Digest a="' + "\\" * 5000,
        ]
    )
    answer(wire, asked, 401, [("WWW-Authenticate", challenge)] if challenge else [], _error("who are you"))


def redirect(wire: Connection, asked: Asked, honest: Honest, drawn: random.Random) -> None:
    """Loops, other hosts, down to HTTP, and what is no URL."""
    place = drawn.choice(
        [
            asked.path,
            f"http://127.0.0.1:{asked.port}{asked.path}",
            f"http://127.0.0.2:{asked.port}{asked.path}",
            f"http://localhost:{asked.port}{asked.path}?{drawn.random()}",
            "http://169.254.169.254/latest/meta-data",
            "http://[::ffff:169.254.169.254]/",
            "http://2852039166/",
            "file:///etc/passwd",
            "//127.0.0.1:1/x",
            "gopher://127.0.0.1/",
            "http://user:word@127.0.0.1:1/",
            "",
            "http://",
            "\x00\u00ff",
            "?" + "a" * 9000,
        ]
    )
    headers = [("Location", place)] * drawn.choice([0, 1, 1, 1, 2])
    answer(wire, asked, drawn.choice([301, 302, 303, 307, 308]), headers, b"elsewhere")


def missing(wire: Connection, asked: Asked, honest: Honest, drawn: random.Random) -> None:
    body = drawn.choice([b"", b"{", _error("manifest unknown"), b"<html>" * 1000, b"[" * MIB])
    answer(wire, asked, 404, [("Content-Type", "application/json")], body)


def half(wire: Connection, asked: Asked, honest: Honest, drawn: random.Random) -> None:
    """A body that ends before its length says."""
    headers = [*honest.headers, ("Content-Length", str(len(honest.body) + drawn.choice([0, 1, 4096])))]
    answer(wire, asked, honest.status, headers, honest.body[: drawn.randrange(len(honest.body) + 1)])
    wire.close(reset=False)


def more_than_said(wire: Connection, asked: Asked, honest: Honest, drawn: random.Random) -> None:
    """Bytes after the length: of another answer, which nobody asked for.

    They come at once with the answer. Later ones could come with the next request's, where no client can tell them
    apart.
    """
    surplus = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}" * drawn.choice([1, 100])
    length = ("Content-Length", str(len(honest.body)))
    answer(wire, asked, honest.status, [*honest.headers, length], honest.body + surplus)


def drip(wire: Connection, asked: Asked, honest: Honest, drawn: random.Random) -> None:
    """A byte now and then, for ever."""
    lines = [f"HTTP/1.1 {honest.status} X", *(f"{name}: {value}" for name, value in honest.headers)]
    data = "\r\n".join([*lines, "Content-Length: 1000000", "", ""]).encode("latin-1") + honest.body
    begun = drawn.randrange(len(data))
    wire.send(data[:begun])
    for byte in data[begun:] + b" " * 100_000:
        wire.pause(0.05)
        wire.send(bytes([byte]))


def silent(wire: Connection, asked: Asked, honest: Honest, drawn: random.Random) -> None:
    """No answer, and no end."""
    wire.send(drawn.choice([b"", b"HTTP/1.1 100 Continue\r\n\r\n", b"HTTP/1.1 200 OK\r\nX: y"]))
    wire.pause(600)


def slow(wire: Connection, asked: Asked, honest: Honest, drawn: random.Random) -> None:
    """The truth, after a while."""
    wire.pause(drawn.choice([0.05, 0.3, 1.0]))
    answer(wire, asked, honest.status, honest.headers, honest.body)


def reset(wire: Connection, asked: Asked, honest: Honest, drawn: random.Random) -> None:
    if drawn.random() < 0.5:
        answer(wire, asked, honest.status, [*honest.headers, ("Content-Length", "100000")], honest.body)
    wire.close(reset=True)


def hang_up(wire: Connection, asked: Asked, honest: Honest, drawn: random.Random) -> None:
    """Closes without a word, or after an answer that promised to stay."""
    if drawn.random() < 0.5:
        answer(wire, asked, honest.status, [*honest.headers, ("Connection", "keep-alive")], honest.body)
    wire.close(reset=False)


def endless(wire: Connection, asked: Asked, honest: Honest, drawn: random.Random) -> None:
    """A body without an end: chunked, or until the connection closes."""
    chunked = drawn.random() < 0.5
    wire.send(b"HTTP/1.1 200 OK\r\n" + (b"Transfer-Encoding: chunked\r\n\r\n" if chunked else b"\r\n"))
    part = b"{" * 65_536
    for _ in range(200):
        wire.send(b"%x\r\n%s\r\n" % (len(part), part) if chunked else part)
    wire.close(reset=False)


def bad_chunks(wire: Connection, asked: Asked, honest: Honest, drawn: random.Random) -> None:
    size = drawn.choice([b"zz", b"-1", b"ffffffffffffffffffff", b"5;" + b"x" * 90_000, b""])
    wire.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + size + b"\r\nhello\r\n0\r\n\r\n")
    wire.close(reset=False)


def doubled_headers(wire: Connection, asked: Asked, honest: Honest, drawn: random.Random) -> None:
    more = drawn.choice(
        [
            [("Content-Type", "text/html")],
            [("Docker-Content-Digest", f"sha256:{'0' * 64}")],
            [("Content-Length", str(len(honest.body)))] * 2,
            [("Content-Length", str(len(honest.body))), ("Content-Length", "3")],
            [("Content-Length", str(len(honest.body))), ("Transfer-Encoding", "chunked")],
            [("Content-Length", "-1")],
            [("Content-Length", "9" * 300)],
        ]
    )
    answer(wire, asked, honest.status, [*honest.headers, *more], honest.body)
    wire.close(reset=False)


def huge_headers(wire: Connection, asked: Asked, honest: Honest, drawn: random.Random) -> None:
    more = drawn.choice(
        [
            [("X-Long", "a" * 300_000)],
            [(f"X-{number}", "a") for number in range(5000)],
            [("RateLimit-Remaining", "9" * 5000), ("RateLimit-Limit", "1;w=" + "9" * 5000)],
            [("Warning", "\u0085\u009b31m" * 50)],
            [("Link", "</v2/>; rel=next")] * 400,
        ]
    )
    answer(wire, asked, honest.status, [*honest.headers, *more], honest.body)


def no_http(wire: Connection, asked: Asked, honest: Honest, drawn: random.Random) -> None:
    """What is no answer of HTTP/1.1."""
    said = [
        b"220 mail ready\r\n",
        b"\x15\x03\x01\x00\x02\x02\x28",
        b"HTTP/0.9 ok\r\n\r\n",
        b"HTTP/1.1 x y\r\n\r\n",
    ]
    said += [
        b"HTTP/1.1 200 OK\r\n: no name\r\n\r\n",
        b"\x00" * 70_000,
        b"HTTP/1.1 100 Continue\r\n\r\n" * 5000,
    ]
    wire.send(drawn.choice(said))
    wire.close(reset=False)


def parrot(wire: Connection, asked: Asked, honest: Honest, drawn: random.Random) -> None:
    """An error that repeats the credentials that came with the request."""
    said = asked.headers.get("authorization", "none")
    headers = drawn.choice(
        [[], [("WWW-Authenticate", f'Bearer realm="{said}",error="{said}"')], [("X", said)]]
    )
    answer(wire, asked, drawn.choice([400, 401, 403, 404, 500]), headers, _error(f"you said {said}"))


FAULTS: dict[str, Callable[[Connection, Asked, Honest, random.Random], None]] = {
    made.__name__.replace("_", " "): made
    for made in (
        *(
            busy,
            status,
            unauthorized,
            redirect,
            missing,
            half,
            more_than_said,
            drip,
            silent,
            slow,
            reset,
            hang_up,
        ),
        *(endless, bad_chunks, doubled_headers, huge_headers, no_http, parrot, *FALSE_DOCUMENTS),
    )
}
