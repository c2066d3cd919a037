"""`archfit lock [FILE|-].. [--from-audit FILE].. [OPTION]..`: the lock file.

The command asks registries even where the cache has a fresh answer. If a lookup fails, the command fails and writes
nothing. Of a report of audit it takes the images that were Found; `_left_out` says what it says of the others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import BinaryIO, TextIO

from archfit.base.errors import InvalidInput, UsageError
from archfit.base.printable import count, visible
from archfit.base.results import Message, has_error
from archfit.cli.inputs.command_inputs import manifests_of
from archfit.cli.inputs.lock_images import LockNeeds, asked_anew, failed_message, lock_needs, looked_up
from archfit.cli.inputs.manifests import Manifests
from archfit.cli.invocation import read_invocation
from archfit.cli.usage.command_table import BY_NAME
from archfit.facts.facts import ImageFacts
from archfit.facts.merge import merge
from archfit.facts.reports import facts_of_report
from archfit.images.overrides import override
from archfit.images.platforms import Found
from archfit.images.reference import parse
from archfit.lock.update import LockChange, changes, chosen, merged
from archfit.lookup import lockfile
from archfit.lookup.lockfile import DEFAULT_PATH, content_of, render, replace
from archfit.options.settings import Options, Settings
from archfit.reports.summary import failure, lines, unknown_words
from archfit.yaml.json_output import document_head, json_output

_COMMAND = BY_NAME["lock"]
_WORDS_OF_CHECK = {"added": "missing", "dropped": "unused"}
_PRUNE_ALL = "the input holds no manifests, and --prune would drop their entries. Did the command before the pipe fail?"


def lock(
    argv: Sequence[str], stdin: BinaryIO, stdout: BinaryIO, stderr: TextIO, environ: Mapping[str, str]
) -> int:
    """The command, after its name. The exit code; raises ArchfitError."""
    invocation = read_invocation(_COMMAND, argv, environ, stderr)
    flags, settings = invocation.flags, invocation.settings
    if settings.operator.offline:
        raise UsageError("offline is set, but archfit lock has to ask registries: run it without offline")
    path = settings.options.lock_file or DEFAULT_PATH
    audits = _audit_needs(flags.from_audit, settings.options, prune=flags.prune)
    manifests = Manifests()
    if invocation.words or not flags.from_audit:
        options = settings.options.replace(on_blank="pass") if flags.prune else settings.options
        manifests = manifests_of(invocation, stdin, options)
        if flags.prune and any(source.blank for source in manifests.sources):
            raise UsageError(_PRUNE_ALL)
    needs = _together(lock_needs(manifests, settings.options), audits)
    if _failed(needs.messages, stderr):
        return 1
    names = chosen(needs.needed, _held(path)[1], flags.update, add=flags.add_missing)
    lookup = Settings(operator=asked_anew(settings.operator))
    answers = looked_up(names, needs, lookup, environ, stderr)
    messages = [*answers.messages, *(failed_message(source) for source in answers.failed)]
    if _failed([*needs.messages, *messages], stderr):
        return 1
    content, before = _held(path)  # lookups take seconds, in which another run may have added entries
    after = merged(before, answers.locked, needs.needed, prune=flags.prune)
    changed = changes(before, after)
    text = render(after)
    # Git may have checked the file out with CRLF, which does not change the lock file.
    write = not flags.check and (content is None or content.replace(b"\r\n", b"\n") != text)
    if write:
        replace(path, text)
    if flags.format == "json":
        head = {**document_head("lock-changes"), "lockFile": path, "images": len(after), "written": write}
        stdout.write(json_output({**head, "changes": [change.as_json() for change in changed]}))
    stale = flags.check and (bool(changed) or content is None)
    words = _WORDS_OF_CHECK if flags.check else {}
    state = "is stale" if stale else "is written" if write else "is up to date"
    verbs = Counter(change.verb for change in changed)
    summary = [
        f"{verbs[verb]} {words.get(verb, verb)}"
        for verb in ("added", "moved", "corrected", "dropped")
        if verbs[verb]
    ]
    summary.append(count(len(after), "image"))
    unused = len(after.keys() - needs.needed.keys())
    if unused:
        summary.append(f"{unused} of them not in these manifests")
    if flags.check and len(names) < len(after):
        summary.append(f"{len(names)} of them asked now")
    if needs.unknown:
        summary.append(unknown_words(needs.unknown))
    summary.append(count(answers.requests, "registry request"))
    lacking = [f"lacking: {name} (--add-missing adds it)" for name in needs.needed if name not in after]
    _write_lines(stderr, lines([*needs.messages, *messages]))
    _write_lines(stderr, [*(_line(change, words) for change in changed), *lacking])
    _write_lines(stderr, [f"archfit: {path} {state}: {', '.join(summary)}"])
    return 3 if stale else 0


def _held(path: str) -> tuple[bytes | None, dict[str, Found]]:
    """What the lock file holds, and as entries; None where there is no file. Raises InvalidLock and UsageError."""
    content = content_of(path)
    return content, {} if content is None else lockfile.parse(content, path)


def _failed(messages: Sequence[Message], stderr: TextIO) -> bool:
    """Whether an error is among them; then all of them go to standard error."""
    if not has_error(messages):
        return False
    _write_lines(stderr, [*lines(messages), failure(messages)])
    return True


def _line(change: LockChange, words: Mapping[str, str]) -> str:
    parts = []
    if change.verb == "added":
        parts = [", ".join(change.gained) or "no image, so it restricts nothing"]
    elif change.verb != "dropped":
        parts = [f"now has {', '.join(change.gained)}"] if change.gained else []
        parts += [f"no longer has {', '.join(change.lost)}"] if change.lost else []
        parts = parts or ["the same platforms"]
    why = f" ({'; '.join(parts)})" if parts else ""
    return f"{words.get(change.verb, change.verb)}: {change.reference}{why}"


def _write_lines(stderr: TextIO, texts: Sequence[str]) -> None:
    stderr.writelines(f"{text}\n" for text in texts)


def _audit_needs(files: Sequence[str], options: Options, *, prune: bool) -> LockNeeds:
    """The images of the reports together, without those that an override answers. Raises UsageError, InvalidInput."""
    facts = merge(facts_of_report(file, "--from-audit") for file in files)
    known = [image.reference for image in facts.images if image.answer == "Found"]
    if files and not known:
        raise InvalidInput(
            f"--from-audit: no image in {', '.join(files)} has known platforms, so there is nothing to lock: make "
            "the report again without --offline"
        )
    needed = {name: name for name in known if not override(parse(name), options.image_platforms)}
    messages = tuple(
        _left_out(image, prune=prune) for image in facts.images if image.answer not in ("Found", "Unasked")
    )
    return LockNeeds(needed, {name: Message("error", "") for name in needed}, messages)


def _together(manifests: LockNeeds, audits: LockNeeds) -> LockNeeds:
    """What both need; the manifests count where both name an image. Those of audits come first."""
    return LockNeeds(
        {**audits.needed, **manifests.needed},
        {**audits.uses, **manifests.uses},
        (*manifests.messages, *audits.messages),
        manifests.unknown,
    )


def _left_out(image: ImageFacts, *, prune: bool) -> Message:
    why = visible(image.detail) or "the audit has no answer for it"
    if image.answer == "Unread":
        why = "the audit did not ask for it; merge the reports of all shards first"
    name = visible(image.reference)
    if prune and image.answer in ("Unknown", "Unread"):
        return Message(
            "error", f"{name}: {why}; --prune would drop its entry: audit it again, or leave --prune out"
        )
    return Message("warning", f"{name} is left out: {why}")
