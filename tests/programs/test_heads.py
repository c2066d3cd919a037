"""What the first bytes of a file say, and what that means on an architecture."""

import shutil
import struct

import pytest

import machine
from archfit.images.platforms import ARCHITECTURES
from archfit.programs.heads import head_of, is_head, machine_of, program_words, runs
from archfit.programs.program import Program, judged
from program_images import MACHINES, elf

_READELF = {
    "amd64": "Advanced Micro Devices X86-64", "386": "Intel 80386", "arm64": "AArch64", "arm": "ARM",
    "ppc64le": "PowerPC64", "ppc64": "PowerPC64", "s390x": "IBM S/390", "riscv64": "RISC-V", "loong64": "LoongArch",
    "mips": "MIPS R3000", "mipsle": "MIPS R3000", "mips64": "MIPS R3000", "mips64le": "MIPS R3000",
}  # fmt: skip


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_an_elf_program_is_for_its_architecture_and_for_no_other(architecture):
    head = head_of(elf(architecture))
    assert is_head(head)
    assert machine_of(head) == architecture
    there = {other for other in ARCHITECTURES if runs(head, other)}
    also = {"386": {"amd64"}, "arm": {"arm64"}}.get(architecture, set())
    assert there == {architecture} | also


@pytest.mark.real
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_readelf_says_the_same_of_each_machine(architecture, tmp_path):
    program = shutil.which("readelf") or machine.missing("readelf", "install binutils")
    (tmp_path / "app").write_bytes(elf(architecture))
    environ = {"LC_ALL": "C"}
    ran = machine.run([program, "-h", tmp_path / "app"], env=environ)
    said = dict(line.strip().partition(":")[::2] for line in ran.stdout.splitlines())
    assert said["Machine"].strip() == _READELF[architecture]
    bits, order, _ = MACHINES[architecture]
    assert said["Class"].strip() == f"ELF{bits}"
    assert ("little" if order == "<" else "big") in said["Data"]


_PE = b"MZ" + bytes(58) + struct.pack("<I", 128) + bytes(64) + b"PE\0\0" + struct.pack("<H", 0x8664)
_FAT = (
    struct.pack(">II", 0xCAFEBABE, 2)
    + struct.pack(">IIIII", 0x01000007, 3, 0, 0, 0)
    + struct.pack(">I", 0x0100000C)
)


@pytest.mark.parametrize(
    ("data", "head", "words"),
    [
        pytest.param(_PE, "pe 34404", "a Windows program", id="windows"),
        pytest.param(
            b"MZ" + bytes(58) + b"\xff\xff\xff\x7f", "pe 0", "a Windows program", id="windows-far-head"
        ),
        pytest.param(
            struct.pack("<II", 0xFEEDFACF, 0x0100000C), "macho 16777228", "a macOS program", id="macos"
        ),
        pytest.param(_FAT + bytes(20), "macho 16777223 16777228", "a macOS program", id="macos-fat"),
        pytest.param(
            elf("amd64")[:18] + b"\xf7\0", "elf 64 lsb 247", "an ELF 64 lsb 247 program", id="elf-of-another"
        ),
    ],
)
def test_a_program_of_another_system_is_wrong_everywhere(data, head, words):
    assert head_of(data) == head
    assert is_head(head)
    assert program_words(head) == words
    assert not any(runs(head, architecture) for architecture in ARCHITECTURES)


@pytest.mark.parametrize(
    ("data", "head"),
    [
        pytest.param(b"", "empty", id="empty"),
        pytest.param(b"\0asm\1\0\0\0", "wasm", id="wasm"),
        pytest.param(b"echo hello\n", "other", id="text"),
        pytest.param(b"\xca\xfe\xba\xbe\0\0\0\x34", "other", id="java-class"),
        pytest.param(b"\x7fELF", "other", id="cut-off-elf"),
        pytest.param(b"\x7fELF\3\1", "other", id="elf-of-no-class"),
        pytest.param(b"MZ", "other", id="cut-off-windows"),
        pytest.param(b"#!\n", "other", id="script-of-nothing"),
        pytest.param(b"#! /bin/sh -e\nexit\n", "script /bin/sh", id="script"),
        pytest.param(b"#!/usr/bin/env python3\n", "script /usr/bin/env python3", id="env"),
        pytest.param(
            b"#!/usr/bin/env -S A=1 node --x\n", "script /usr/bin/env node", id="env-with-arguments"
        ),
        pytest.param(b"#!/usr/bin/env\n", "script /usr/bin/env", id="env-of-nothing"),
    ],
)
def test_what_is_no_binary(data, head):
    assert head_of(data) == head
    assert is_head(head)
    assert not machine_of(head)
    assert judged(Program((("app", head),)), "arm64").state == "unread"


@pytest.mark.parametrize(
    ("architecture", "head", "state"),
    [
        pytest.param("arm64", "elf 64 lsb 183", "right", id="its-own"),
        pytest.param("arm64", "elf 64 lsb 62", "wrong", id="another"),
        pytest.param("arm64", "elf 64 msb 183", "wrong", id="the-other-byte-order"),
        pytest.param("arm64", "elf 32 lsb 40", "unread", id="32-bit-arm-on-arm64"),
        pytest.param("amd64", "elf 32 lsb 3", "right", id="386-on-amd64"),
        pytest.param("386", "elf 64 lsb 62", "wrong", id="amd64-on-386"),
        pytest.param("amd64", "elf 32 lsb 62", "unread", id="x32"),
    ],
)
def test_the_three_answers(architecture, head, state):
    assert judged(Program((("app", head),)), architecture).state == state
