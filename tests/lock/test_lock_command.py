"""`archfit lock`: every flag over a registry whose tags move, and its twin where nothing has."""

import io
import json
import stat

import pytest

from archfit.base.errors import UsageError
from archfit.cli.inputs.input_files import read_inputs
from archfit.images.platforms import Found
from archfit.lock.command import _line
from archfit.lock.update import LockChange
from archfit.lookup.lockfile import parse
from lock_runs import Locking, Said, pod

BOTH, AMD = ["linux/amd64", "linux/arm64"], ["linux/amd64"]
NGINX, REDIS, APP = "docker.io/library/nginx:1.27", "docker.io/library/redis:latest", "quay.io/team/app:1"
STREAM = pod("nginx:1.27", "redis") + pod("quay.io/team/app:1", "nginx:1.27", name="b")


@pytest.fixture
def locked(locking):
    """With a lock file for STREAM."""
    assert locking.lock(STREAM).status == 0
    locking.registry.forget()
    return locking


def told(said: Said) -> list[str]:
    """The lines of standard error, without the requests."""
    return [line.partition(", 0 reg")[0] for line in said.stderr.splitlines()]


def test_it_writes_every_image_once(locking, registry):
    said = locking.lock(STREAM)
    assert (said.status, said.stdout) == (0, "")
    assert said.stderr.splitlines() == [
        f"added: {NGINX} (linux/amd64, linux/arm64)",
        f"added: {REDIS} (linux/amd64, linux/arm64)",
        f"added: {APP} (linux/amd64)",
        f"archfit: {locking.file} is written: 3 added, 3 images, 4 registry requests",
    ]
    assert locking.held() == [NGINX, REDIS, APP]
    kinds = {line.split('"kind": ')[1].split(",")[0] for line in locking.file.read_text().splitlines()[1:-1]}
    assert kinds == {'"index"', '"manifest"'}
    assert len(registry.asked) == 4


@pytest.mark.parametrize(
    "words",
    [[], ["--update=docker.io/*", "--update", "quay.io/*"], ["--prune", "--add-missing"]],
    ids=["again", "--update", "--prune"],
)
def test_where_nothing_changed_the_file_is_left_untouched(locked, words):
    before = locked.stamp()
    assert locked.lock(STREAM, *words).status == 0
    assert locked.stamp() == before


def test_a_tag_that_moved_is_written_with_what_it_gained_and_lost(locked, registry):
    digest = registry.put("nginx:1.27", ["linux/amd64", "linux/s390x"])
    said = locked.lock(STREAM)
    assert said.status == 0
    assert said.stderr.splitlines()[0] == f"moved: {NGINX} (now has linux/s390x; no longer has linux/arm64)"
    assert parse(locked.file.read_bytes(), "")[NGINX].digest == digest


def test_a_tag_that_moved_to_the_same_platforms_is_written_too(locked, registry):
    registry.put("quay.io/team/app:1", ["linux/amd64/v2"])
    registry.put("quay.io/team/app:1", AMD)
    assert told(locked.lock(STREAM))[-1].startswith(f"archfit: {locked.file} is up to date: 3 images")
    registry.put("redis", [*BOTH, "linux/amd64"])
    said = locked.lock(STREAM)
    assert said.stderr.splitlines()[0] == f"moved: {REDIS} (the same platforms)"


def test_entries_of_other_manifests_stay(locked):
    before = locked.stamp()
    said = locked.lock(pod("redis"))
    assert said.stderr.splitlines() == [
        f"archfit: {locked.file} is up to date: 3 images, 2 of them not in these manifests, 1 registry request"
    ]
    assert locked.stamp() == before


def test_add_missing_asks_for_nothing_else(locked, registry):
    registry.put("nginx:1.27", AMD)
    registry.put("nginx:1.28", BOTH)
    old = locked.file.read_text()
    said = locked.lock(STREAM + pod("nginx:1.28"), "--add-missing")
    assert said.stderr.splitlines()[0] == "added: docker.io/library/nginx:1.28 (linux/amd64, linux/arm64)"
    assert {asked.path.rpartition("/")[2] for asked in registry.asked} == {"1.28"}
    assert [line for line in locked.file.read_text().splitlines() if "1.28" not in line] == old.splitlines()


def test_add_missing_where_nothing_is_missing_asks_nobody(locked, registry):
    registry.put("nginx:1.27", AMD)
    before = locked.stamp()
    assert locked.lock(STREAM, "--add-missing").status == 0
    assert (registry.asked, locked.stamp()) == ([], before)


def test_update_asks_anew_for_what_matches(locked, registry):
    registry.put("nginx:1.27", AMD)
    registry.put("redis", AMD)
    said = locked.lock(STREAM, "--update", "docker.io/library/n*")
    assert said.stderr.splitlines()[0] == f"moved: {NGINX} (no longer has linux/arm64)"
    assert {"/".join(asked.path.split("/")[2:-2]) for asked in registry.asked} == {"docker.io/library/nginx"}
    assert "redis" not in said.stderr


def test_update_alone_asks_anew_for_all(locked, registry):
    registry.put("redis", AMD)
    registry.put("quay.io/team/app:1", BOTH)
    said = locked.lock(STREAM, "--update")
    assert told(said)[:2] == [
        f"moved: {REDIS} (no longer has linux/arm64)",
        f"moved: {APP} (now has linux/arm64)",
    ]


def test_update_names_what_the_file_still_lacks(locked, registry):
    registry.put("quay.io/team/new:1", BOTH)
    said = locked.lock(STREAM + pod("quay.io/team/new:1"), "--update", "docker.io/*")
    assert "lacking: quay.io/team/new:1 (--add-missing adds it)" in said.stderr.splitlines()
    assert "quay.io/team/new:1" not in locked.held()


def test_update_with_a_glob_for_nothing_is_wrong_usage(locked, registry):
    """Also what was meant as a file: `--update rendered.yaml`."""
    before = locked.stamp()
    said = locked.lock(STREAM, "--update", "nginx")
    assert (said.status, said.stderr.split(":")[:2]) == (2, ["error", " --update"])
    assert (registry.asked, locked.stamp()) == ([], before)


def test_prune_drops_what_is_not_needed(locked):
    said = locked.lock(pod("redis"), "--prune")
    assert (said.status, locked.held()) == (0, [REDIS])
    assert said.stderr.splitlines() == [
        f"dropped: {NGINX}",
        f"dropped: {APP}",
        f"archfit: {locked.file} is written: 2 dropped, 1 image, 1 registry request",
    ]


@pytest.mark.parametrize("text", ["", "\n", "---\n", "# nothing\n"], ids=repr)
def test_prune_refuses_blank_input(locked, text):
    """The command before the pipe failed, and everything would be dropped."""
    before = locked.stamp()
    said = locked.lock(text, "--prune", "-", locked.write("other.yaml", STREAM))
    assert said.status == 2
    assert "the input holds no manifests, and --prune would drop their entries" in said.stderr
    assert locked.stamp() == before


def test_prune_of_manifests_without_images_drops_all(locked):
    config = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"
    assert (locked.lock(config, "--prune").status, locked.held()) == (0, [])


@pytest.mark.parametrize(
    ("move", "text", "words", "lines"),
    [
        pytest.param(BOTH, STREAM + pod("nginx:1.28"), [], ["missing: docker.io/library/nginx:1.28 (linux/s390x)"], id="missing"),
        pytest.param(AMD, STREAM, [], [f"moved: {NGINX} (no longer has linux/arm64)"], id="a platform lost"),
        pytest.param([*BOTH, "linux/s390x"], STREAM, [], [f"moved: {NGINX} (now has linux/s390x)"], id="a platform gained"),
        pytest.param(BOTH, pod("nginx:1.27", "redis"), ["--prune"], [f"unused: {APP}"], id="unused, with --prune"),
        pytest.param(AMD, STREAM, ["--update", "*/nginx:*"], [f"moved: {NGINX} (no longer has linux/arm64)"], id="moved, with --update"),
    ],
)  # fmt: skip
def test_check_ends_with_3_and_writes_nothing(locked, registry, move, text, words, lines):
    registry.put("nginx:1.27", move)
    registry.put("nginx:1.28", ["linux/s390x"])
    before = locked.stamp()
    said = locked.lock(text, "--check", *words)
    assert (said.status, said.stdout) == (3, "")
    assert said.stderr.splitlines()[:-1] == lines
    assert said.stderr.splitlines()[-1].startswith(f"archfit: {locked.file} is stale: 1 ")
    assert locked.stamp() == before


@pytest.mark.parametrize(
    ("move", "text", "words"),
    [
        pytest.param(BOTH, STREAM, [], id="nothing moved"),
        pytest.param(BOTH, STREAM, ["--prune"], id="nothing unused"),
        pytest.param(BOTH, pod("nginx:1.27", "redis"), [], id="unused, without --prune"),
        pytest.param(AMD, STREAM, ["--add-missing"], id="moved, with --add-missing"),
        pytest.param(AMD, STREAM, ["--update", "*/redis:*"], id="moved, and --update is about another"),
    ],
)
def test_check_ends_with_0_where_the_file_would_not_change(locked, registry, move, text, words):
    registry.put("nginx:1.27", move)
    before = locked.stamp()
    said = locked.lock(text, "--check", *words)
    assert said.status == 0, said.stderr
    assert said.stderr.startswith(f"archfit: {locked.file} is up to date: 3 images")
    assert locked.stamp() == before


@pytest.mark.parametrize("text", ["", "# nothing\n", "a: {b: 1}\n"], ids=["blank", "comment", "no-object"])
def test_check_of_nothing_says_nothing_about_the_lock_file(locked, text):
    said = locked.lock(text, "--check")
    assert (said.status, "up to date" in said.stderr) == (2, False)
    assert "the input holds no" in said.stderr
    assert locked.lock(text, "--on-blank=pass").status == (2 if ":" in text else 0)


def test_the_last_line_counts_what_is_not_known_and_what_was_asked(locked):
    """A placeholder has no line in the lock file, and entries that --add-missing has are not asked for again."""
    said = locked.lock(STREAM + pod("$(x)", "", "$(x)", name="c"), "--check", "--add-missing")
    assert said.status == 0
    assert said.stderr.splitlines()[-1].endswith(
        "is up to date: 3 images, 0 of them asked now, 2 not known (1 no image named, 1 placeholder), "
        "0 registry requests"
    )
    every = locked.lock(STREAM, "--check", "--update").stderr.splitlines()[-1]
    assert ("asked now" in every, "not known" in every) == (False, False)


def test_check_of_a_file_that_does_not_exist_ends_with_3(locking):
    assert locking.lock(STREAM, "--check").status == 3
    assert locking.lock("kind: ConfigMap\napiVersion: v1\n", "--check").status == 3
    assert not locking.file.exists()


def test_manifests_without_images_make_an_empty_file(locking):
    assert locking.lock("kind: ConfigMap\napiVersion: v1\n").status == 0
    assert locking.file.read_bytes() == b'{"version": 1, "images": {\n}}\n'


@pytest.mark.parametrize(
    "words", [[], ["--check"], ["--add-missing"]], ids=lambda words: " ".join(words) or "no flag"
)
def test_a_lookup_that_fails_fails_the_command_and_nothing_is_written(locked, registry, words):
    """Every one is named, with its place; those that were found do not count."""
    registry.put("nginx:1.28", BOTH)
    before = locked.stamp()
    text = STREAM + pod("nginx:1.28", "nginx:1.99", "quay.io/team/gone:1", name="c")
    said = locked.lock(text, *words)
    assert (said.status, said.stdout) == (1, "")
    *errors, last = said.stderr.splitlines()
    assert last == "archfit: 2 problems; nothing was written"
    assert [error.split(": ")[1:3] for error in errors] == [
        ["apps/v1/Deployment/c spec.template.spec.containers[1].image", "nginx:1.99"],
        ["apps/v1/Deployment/c spec.template.spec.containers[2].image", "quay.io/team/gone:1"],
    ]
    assert all("there is no such image" in error and "document 3" in error for error in errors)
    assert locked.stamp() == before


def test_on_absent_and_on_unknown_have_no_say(locked):
    """A lock file without the image would only move the failure."""
    config = locked.write(
        "archfit.yaml",
        "apiVersion: archfit.dev/v1alpha1\nkind: ArchFit\nspec: {onAbsent: leave, onUnknown: leave}\n",
    )
    assert locked.lock(pod("nginx:1.99"), "--config", config).status == 1
    assert locked.lock(pod("nginx:1.27"), "--config", config).status == 0


def test_several_files_and_standard_input_are_one_set(locking):
    first, second = locking.write("first.yaml", pod("nginx:1.27")), locking.write("second.yaml", pod("redis"))
    assert locking.lock(pod("quay.io/team/app:1"), first, "-", second).status == 0
    assert locking.held() == [NGINX, REDIS, APP]


def test_standard_input_is_not_read_where_files_are_named(locking):
    locking.lock(pod("quay.io/team/app:1"), locking.write("first.yaml", pod("redis")))
    assert locking.held() == [REDIS]


def test_the_problems_of_all_files_are_said_with_their_names(locked, registry):
    before = locked.stamp()
    bad = locked.write("bad.yaml", "Error: chart not found\n")
    worse = locked.write(
        "worse.yaml", pod("redis") + "---\nkind: Pod\napiVersion: v1\nspec: {containers: [\n"
    )
    said = locked.lock("", bad, worse)
    assert said.status == 1
    assert said.stderr.endswith("archfit: 2 problems; nothing was written\n")
    assert bad in said.stderr
    assert worse in said.stderr
    assert (registry.asked, locked.stamp()) == ([], before)


@pytest.mark.parametrize("image", ["nginx@sha256:abc", "ghcr.io/Foo/bar:1"])
def test_a_malformed_reference_is_an_error_and_nothing_is_written(locked, image):
    before = locked.file.read_bytes()
    said = locked.lock(pod("nginx:1.27", image), "--add-missing")
    assert (said.status, locked.file.read_bytes()) == (1, before)
    assert f"spec.containers[1].image: {image}: no node can pull it: {image!r} has" in said.stderr


def test_but_not_in_a_pod_that_is_left_alone(locked):
    assert locked.lock(STREAM + pod("nginx@sha256:abc", name="c"), "--exclude", "Deployment/*/c").status == 0


def test_only_images_that_a_decision_asks_for_are_locked(locking):
    text = (
        pod("nginx:1.27", "", "{{ .image }}", "ko://x/y")
        + pod("redis").replace("  name: a", "  name: a\n  annotations: {archfit.dev/skip: 'true'}")
        + pod("quay.io/team/app:1", "quay.io/legacy/x:1")
    )
    assert locking.lock(text, "--image-platforms", "quay.io/*=linux/amd64").status == 0
    assert locking.held() == [NGINX]


@pytest.mark.usefixtures("nothing_seen")
@pytest.mark.parametrize(
    ("value", "held"), [("all", [NGINX, APP]), ("read", [NGINX, APP]), ("seen", [NGINX]), ("none", [NGINX])]
)
def test_the_option_for_custom_resources_chooses_images_as_in_a_run(locking, value, held):
    """With `seen` and `none` a run leaves the pod of a row that rests on reading, and asks for none of its images."""
    custom = pod("quay.io/team/app:1", name="b").replace("apps/v1", "apps.kruise.io/v1alpha1")
    text = pod("nginx:1.27") + custom.replace("kind: Deployment", "kind: CloneSet")
    assert locking.lock(text, "--custom-resources", value).status == 0
    assert locking.held() == held
    assert locking.lock(text, "--check", "--prune", f"--custom-resources={value}").status == 0


def test_a_pinned_image_is_locked_under_its_digest(locking, registry):
    digest = registry.put("quay.io/team/app:2", BOTH)
    registry.forget()
    assert locking.lock(pod(f"quay.io/team/app:2@{digest}")).status == 0
    assert locking.held() == [f"quay.io/team/app@{digest}"]
    registry.forget()
    assert locking.lock(pod(f"quay.io/team/app:2@{digest}"), "--add-missing").status == 0
    assert registry.asked == [], "what a digest stands for never changes"


@pytest.mark.parametrize(
    ("true", "false"),
    [
        pytest.param('"linux/amd64", "linux/arm64"', '"linux/amd64", "linux/arm64", "linux/s390x"', id="one-more"),
        pytest.param('"linux/amd64", "linux/arm64"', '"linux/arm64"', id="one-less"),
        pytest.param('"index"', '"manifest"', id="another-kind"),
        pytest.param('"index", "platforms": ["linux/amd64", "linux/arm64"]', '"artifact", "platforms": []', id="no-image"),
    ],
)  # fmt: skip
def test_a_changed_line_of_a_pinned_image_is_found_and_mended(locking, registry, true, false):
    image = f"quay.io/team/app@{registry.put('quay.io/team/app:2', BOTH)}"
    assert locking.lock(pod(image)).status == 0
    good = locking.file.read_text(encoding="utf-8")
    assert true in good
    assert locking.lock(pod(image), "--check").status == 0
    locking.file.write_text(good.replace(true, false), encoding="utf-8")
    said = locking.lock(pod(image), "--check")
    assert said.status == 3
    assert f"corrected: {image}" in said.stderr
    assert locking.lock(pod(image)).status == 0
    assert locking.file.read_text(encoding="utf-8") == good


def test_json_says_what_changed(locked, registry):
    old = parse(locked.file.read_bytes(), "")[NGINX].digest
    new = registry.put("nginx:1.27", AMD)
    said = locked.lock(pod("nginx:1.27"), "--json", "--prune", "--check")
    assert json.loads(said.stdout)["written"] is False
    said = locked.lock(pod("nginx:1.27", "redis"), "--json", "--prune")
    shown = json.loads(said.stdout)
    assert shown["changes"][0] == {
        "reference": NGINX,
        "change": "moved",
        "from": old,
        "to": new,
        "gained": [],
        "lost": ["linux/arm64"],
    }
    assert [change["change"] for change in shown["changes"]] == ["moved", "dropped"]
    assert (shown["lockFile"], shown["images"], shown["written"]) == (str(locked.file), 2, True)
    assert json.loads(locked.lock(pod("redis"), "--json").stdout)["changes"] == []


def test_a_file_in_another_layout_is_written_in_its_own_again(locked):
    good = locked.file.read_bytes()
    locked.file.write_text(json.dumps(json.loads(good), indent=2))
    assert locked.lock(STREAM, "--check").status == 0
    assert locked.lock(STREAM).status == 0
    assert locked.file.read_bytes() == good


def test_line_ends_of_a_checkout_are_no_reason_to_write(locked):
    locked.file.write_bytes(locked.file.read_bytes().replace(b"\n", b"\r\n"))
    before = locked.stamp()
    assert locked.lock(STREAM).status == 0
    assert locked.stamp() == before


def test_a_broken_file_is_an_error_and_stays(locked, registry):
    locked.file.write_text("<<<<<<< HEAD\n" + locked.file.read_text())
    before = locked.stamp()
    said = locked.lock(STREAM)
    assert said.status == 1
    assert f"{locked.file} line 1: has a git conflict marker" in said.stderr
    assert (registry.asked, locked.stamp()) == ([], before)


def test_it_is_replaced_at_once_with_its_mode_and_through_a_link(locked, registry):
    place = locked.folder / "place.lock"
    locked.file.rename(place)
    locked.file.symlink_to(place.name)
    place.chmod(0o640)
    registry.put("redis", AMD)
    inode = place.stat().st_ino
    assert locked.lock(STREAM).status == 0
    assert locked.file.is_symlink()
    assert stat.S_IMODE(place.stat().st_mode) == 0o640
    assert place.stat().st_ino != inode, "a reader of the old file keeps the whole old file"
    assert sorted(path.name for path in locked.folder.iterdir()) == ["archfit.lock", "place.lock"]


def test_a_new_file_has_the_mode_of_any_other(locked):
    other = locked.folder / "other"
    other.touch()
    assert locked.file.stat().st_mode == other.stat().st_mode


def test_a_folder_that_cannot_be_written_is_said_and_nothing_is_left(locked):
    said = locked.lock(STREAM, "--lock-file", str(locked.folder / "no" / "archfit.lock"))
    assert said.status == 1
    assert said.stderr.splitlines()[-1].startswith("error: --lock-file: cannot write ")
    assert [path.name for path in locked.folder.iterdir()] == ["archfit.lock"]


@pytest.mark.parametrize(
    "age", [60, 0, -30], ids=["a minute old", "of this second", "of a clock that is ahead"]
)
def test_the_cache_has_no_say_in_what_is_locked(locked, registry, age):
    """A tag that the cache still believes may have moved; what it was is confirmed or replaced."""
    import time

    from archfit.lookup.entries import to_json
    from archfit.lookup.store.sqlite import SqliteStore

    cache = str(locked.folder / "cache.sqlite")
    old = parse(locked.file.read_bytes(), "")[NGINX]
    store = SqliteStore(cache)
    store.put_many({f"tag:{NGINX}": to_json(old, int(time.time()) - age)["tag"]})
    store.close()
    digest = registry.put("nginx:1.27", AMD)
    locked.words = ["--cache", cache, "--lock-file", str(locked.file)]
    assert locked.lock(pod("nginx:1.27")).status == 0
    assert parse(locked.file.read_bytes(), "")[NGINX].digest == digest


def test_what_it_learns_is_kept_in_the_cache(locked, registry, archfit):
    cache = str(locked.folder / "cache.sqlite")
    locked.words = ["--cache", cache, "--lock-file", str(locked.file)]
    locked.lock(STREAM)
    registry.forget()
    archfit(STREAM.encode(), "--cache", cache, *registry.mirrors()).ok()
    assert registry.asked == []


USAGE = [
    pytest.param(["--locked"], "there is no flag '--locked'", id="--locked"),
    pytest.param(["--add-mising"], "there is no flag '--add-mising': write --add-missing", id="a flag misspelt"),
    pytest.param(["--check=1"], "--check: takes no value: write --check", id="a switch with a value"),
    pytest.param(["/nowhere.yaml"], "cannot read '/nowhere.yaml' (No such file or directory)", id="no such file"),
    pytest.param(["-", "-"], "- is standard input, which can be read only once", id="standard input twice"),
    pytest.param(["--lock-file", "/"], "--lock-file: cannot read '/' (Is a directory)", id="a folder as lock file"),
]  # fmt: skip


@pytest.mark.parametrize(("words", "message"), USAGE)
def test_wrong_usage_is_exit_2(locked, registry, words, message):
    said = locked.lock(STREAM, *words)
    assert (said.status, said.stdout) == (2, "")
    assert said.stderr.startswith(f"error: {message}")
    assert registry.asked == []


def test_offline_is_refused(locked):
    locked.environ["ARCHFIT_OFFLINE"] = "true"
    said = locked.lock(STREAM)
    assert (said.status, said.stderr) == (
        2,
        "error: offline is set, but archfit lock has to ask registries: run it without offline\n",
    )


def test_a_configuration_that_locks_runs_serves_the_command_too(locked):
    """One file for `archfit --config` and `archfit lock --config`; the lock file lies beside it."""
    folder = locked.folder / "deploy"
    folder.mkdir()
    config = folder / "archfit.yaml"
    config.write_text(
        "apiVersion: archfit.dev/v1alpha1\nkind: ArchFit\nspec: {lockFile: archfit.lock, locked: true}\n"
    )
    locked.words = ["--no-cache", "--config", str(config)]
    assert locked.lock(STREAM).status == 0
    assert (folder / "archfit.lock").read_bytes() == locked.file.read_bytes()


def test_without_a_name_it_is_archfit_lock_in_the_working_directory(archfit, registry, tmp_path):
    ran = archfit(STREAM.encode(), "lock", "--no-cache", *registry.mirrors(), cwd=tmp_path)
    assert (ran.status, ran.stdout) == (0, b"")
    assert ran.stderr.splitlines()[-1].startswith("archfit: archfit.lock is written: 3 added, 3 images")
    assert [path.name for path in tmp_path.iterdir()] == ["archfit.lock"]


class Terminal(io.BytesIO):
    def isatty(self) -> bool:
        return True


def test_on_a_terminal_without_files_it_says_what_to_do(locked):
    terminal = Terminal()
    with pytest.raises(UsageError, match="standard input is a terminal: pipe manifests in, or name files"):
        read_inputs([], terminal, "archfit lock")
    (read,) = read_inputs([str(locked.file)], terminal, "archfit lock").files
    assert (read.name, read.data) == (str(locked.file), locked.file.read_bytes())


def test_an_artifact_is_said_to_restrict_nothing():
    change = LockChange("quay.io/team/chart:1", None, Found((), "sha256:" + "0" * 64, image=False))
    assert _line(change, {}) == "added: quay.io/team/chart:1 (no image, so it restricts nothing)"


def test_what_another_run_adds_meanwhile_stays(locking):
    """Two jobs that lock different manifests at once: the one that ends last has the entries of both."""
    (locking.folder / "b").mkdir()
    other = Locking(locking.folder / "b", locking.registry)
    assert other.lock(pod("quay.io/team/app:1")).status == 0
    locking.registry.on(lambda _asked: locking.file.write_bytes(other.file.read_bytes()) and None)
    said = locking.lock(pod("redis"))
    assert (said.status, locking.held()) == (0, [REDIS, APP])
    assert said.stderr.splitlines()[0] == f"added: {REDIS} (linux/amd64, linux/arm64)"
