"""What the first bytes of a file say of the machine that it is built for, and whether that is an architecture's.

    elf BITS ORDER MACHINE     e_ident and e_machine (elf.h): `elf 64 lsb 183`
    pe MACHINE                 IMAGE_FILE_HEADER.Machine
    macho TYPE..               cputype, of each part of a fat file
    script PATH [NAME]         a `#!` line; NAME is what `env` looks for on PATH
    wasm, empty, other

Source: Linux, fs/binfmt_script.c and include/uapi/linux/elf-em.h; PE Format; mach-o/loader.h and mach-o/fat.h; GNU env.
"""

from __future__ import annotations

import posixpath
import re
import struct

HEAD_BYTES = 1024
_LINE_BYTES = 256
_ORDERS = {1: "lsb", 2: "msb"}
_ELF = {
    "64 lsb 62": "amd64", "32 lsb 3": "386", "64 lsb 183": "arm64", "32 lsb 40": "arm", "64 lsb 21": "ppc64le",
    "64 msb 21": "ppc64", "64 msb 22": "s390x", "64 lsb 243": "riscv64", "64 lsb 258": "loong64", "32 msb 8": "mips",
    "32 lsb 8": "mipsle", "64 msb 8": "mips64", "64 lsb 8": "mips64le",
}  # fmt: skip
_WORDS = {
    "amd64": "an x86-64",
    "386": "a 32-bit x86",
    "arm64": "an arm64",
    "arm": "a 32-bit arm",
    "s390x": "an s390x",
}
_ALSO = {("amd64", "386")}
_PERHAPS = {
    ("arm64", "arm"): "32-bit arm, which some arm64 nodes run",
    ("amd64", "x32"): "x32, which few kernels run",
}
_MACHO_FAT, _MACHO = 0xCAFEBABE, {0xFEEDFACE: ">", 0xFEEDFACF: ">", 0xCEFAEDFE: "<", 0xCFFAEDFE: "<"}
_MOST_FAT = 30  # A Java class begins with the same four bytes, and then its version, which is larger.


_HEAD = re.compile(
    r"elf (32|64) [lm]sb \d{1,5}|pe \d{1,5}|macho( \d{1,10})+|script [^ ]+( [^ ]+)?|wasm|empty|other"
).fullmatch


def is_head(text: object) -> bool:
    """Whether it is a text of `head_of`."""
    return isinstance(text, str) and len(text) <= HEAD_BYTES and bool(_HEAD(text))


def head_of(data: bytes) -> str:
    """The text for the first bytes of a file; see the module. Raises nothing."""
    if not data:
        return "empty"
    if data[:2] == b"#!":
        return _script(data)
    try:
        return _binary(data)
    except (struct.error, IndexError):  # cut off
        return "other"


def _binary(data: bytes) -> str:
    if data[:4] == b"\x7fELF" and data[4:5] in b"\1\2" and data[5] in _ORDERS:
        order = _ORDERS[data[5]]
        (machine,) = struct.unpack_from("<H" if order == "lsb" else ">H", data, 18)
        return f"elf {32 * data[4]} {order} {machine}"
    if data[:2] == b"MZ":
        (at,) = struct.unpack_from("<I", data, 60)
        machine = struct.unpack_from("<H", data, at + 4)[0] if data[at : at + 4] == b"PE\0\0" else 0
        return f"pe {machine}"
    (magic,) = struct.unpack_from(">I", data)
    if magic in _MACHO:
        return f"macho {struct.unpack_from(_MACHO[magic] + 'I', data, 4)[0]}"
    if magic == _MACHO_FAT:
        (number,) = struct.unpack_from(">I", data, 4)
        if 0 < number <= _MOST_FAT:
            return "macho " + " ".join(
                str(struct.unpack_from(">I", data, 8 + 20 * at)[0]) for at in range(number)
            )
    return "wasm" if data[:4] == b"\0asm" else "other"


def _script(data: bytes) -> str:
    line = data[2:_LINE_BYTES].partition(b"\n")[0].decode("utf-8", "surrogateescape")
    words = line.split()
    if not words:
        return "other"
    if posixpath.basename(words[0]) != "env":
        return f"script {words[0]}"
    named = [word for word in words[1:] if not word.startswith("-") and "=" not in word]
    return f"script {words[0]} {named[0]}" if named else f"script {words[0]}"


def machine_of(head: str) -> str:
    """What a binary is built for: an architecture, `x32`, or words; "" for what is no binary."""
    kind, _, detail = head.partition(" ")
    if kind == "elf":
        return "x32" if detail == "32 lsb 62" else _ELF.get(detail, f"ELF {detail}")
    return {"pe": "Windows", "macho": "macOS"}.get(kind, "")


def program_words(head: str) -> str:
    """`an x86-64 program`, for a binary."""
    machine = machine_of(head)
    return f"{_WORDS.get(machine) or ('an' if machine.startswith('ELF') else 'a') + ' ' + machine} program"


def runs(head: str, architecture: str) -> bool | str:
    """Whether a binary runs on Linux nodes of the architecture; why that is not known, where it is not."""
    pair = architecture, machine_of(head)
    return _PERHAPS.get(pair) or architecture == pair[1] or pair in _ALSO
