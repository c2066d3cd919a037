"""archfit's parts put into a file of the user's: values of the argo-helm chart, or an ArgoCD resource. Pure.

    a container, volume, variable, mount or object that is missing     added at the end of its list
    the same one, by name or mount path                                what it lacks is added; an image, resources and
                                                                       a configuration stay the user's, and are named
    another value where archfit needs its own                          a conflict: nothing is written
    kustomize.buildOptions, and those of a kustomize version           the missing flags are added behind the others
    PATH                                                               archfit's folder is put before the others

Every comment stays. Sources: argo-helm charts/argo-cd 10.1.1, values.yaml and templates/argocd-repo-server;
argocd-operator api/v1beta1/argocd_types.go and controllers/argocd/repo_server.go (extraConfig wins over the fields of
spec); argo-cd v3.5.1, util/settings/settings.go, GetKustomizeSettings, and util/kustomize/kustomize.go.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any, TypeAlias

from ruamel.yaml.comments import CommentedMap, CommentedSeq

from archfit.record import Record

Keys: TypeAlias = tuple[str, ...]
OPTIONS = "kustomize.buildOptions"
FLAGS = ("--enable-alpha-plugins", "--enable-exec")
_TRUE = {"", "1", "t", "T", "TRUE", "true", "True"}
# What tells the items of a list apart, by the list's key.
_NAMED_BY = {"volumeMounts": ("mountPath",), "extraObjects": ("kind", "metadata.name")}
# What the user may have set otherwise. The rest of a container is as archfit needs it.
_USERS_OWN = {"image", "resources", "data"}


class Places(Record):
    """Where the parts stand in a form. Paths of keys.

    more_env: lists of variables that the server gets before those of `env`. options: mappings that may hold
    `kustomize.buildOptions` by that name, the one that wins first. option_field: a text of the same meaning, which
    they win over; () where there is none.
    """

    containers: Keys
    init_containers: Keys
    volumes: Keys
    mounts: Keys
    env: Keys
    options: Keys
    option_field: Keys = ()
    more_env: tuple[Keys, ...] = ()


class Parts(Record):
    """What one way of running archfit adds. Lists hold items as Kubernetes has them; `others` whole values by place.

    path: a folder for PATH, "" for none. default_path: the PATH of Argo CD's image. options: whether kustomize has to
    get FLAGS. image_given: the user asks for this image now.
    """

    containers: tuple[Any, ...] = ()
    init_containers: tuple[Any, ...] = ()
    volumes: tuple[Any, ...] = ()
    mounts: tuple[Any, ...] = ()
    env: tuple[Any, ...] = ()
    path: str = ""
    default_path: str = ""
    options: bool = False
    image_given: bool = False
    others: tuple[tuple[Keys, Any], ...] = ()


class Merge:
    """One merge into `data`, which it changes. Paths in `added`, sentences in `kept` and `conflicts`."""

    def __init__(self, data: CommentedMap, places: Places, parts: Parts, *, force: bool = False) -> None:
        """Merges at once."""
        self.data, self.added, self.kept, self.conflicts = data, list[str](), list[str](), list[str]()
        self._places, self._force, self._image_given = places, force, parts.image_given
        for keys, value in parts.others:
            self._value(keys, value)
        for keys, items in (
            (places.containers, parts.containers),
            (places.init_containers, parts.init_containers),
            (places.volumes, parts.volumes),
            (places.mounts, parts.mounts),
            (places.env, parts.env),
        ):
            for item in items:
                self._item(self._list(keys), item, ".".join(keys))
        if parts.path:
            self._path(parts.path, parts.default_path)
        if parts.options:
            self._options()

    def _value(self, keys: Keys, value: Any) -> None:
        holder, key, where = self._holder(keys[:-1]), keys[-1], ".".join(keys)
        if isinstance(value, list):
            for item in value:
                self._item(self._list(keys), item, where)
        elif holder.get(key) is None:
            self._set(holder, key, value, where)
        elif isinstance(value, dict) and isinstance(holder[key], dict):
            self._mapping(self._own(holder, key), value, where)
        elif isinstance(value, bool) and holder[key] is not value:
            self.kept.append(f"{where} was {str(holder[key]).lower()} and is {str(value).lower()} now")
            holder[key] = value

    def _item(self, items: Any, item: Any, where: str) -> None:
        names = _NAMED_BY.get(where.rpartition(".")[2], ("name",))
        named = [_at(item, name) for name in names]
        shown = f"{where}[{named[-1]}]"
        for other in items:
            if isinstance(other, dict) and [_at(other, name) for name in names] == named:
                self._mapping(other, item, shown)
                return
        items.append(copy.deepcopy(item))
        self.added.append(shown)

    def _mapping(self, there: Any, wanted: Any, where: str) -> None:
        """Adds what the user's mapping lacks, and names what differs."""
        for key, value in wanted.items():
            at = f"{where}.{key}"
            if there.get(key) is None and value is not None:
                self._set(there, key, value, at)
            elif there[key] == value:
                continue
            elif key in ("env", "volumeMounts") and isinstance(there[key], list):
                for item in value:
                    self._item(there[key], item, at)
            elif key == "image" and self._image_given:
                there[key] = value
                self.added.append(at)
            elif self._force:
                there[key] = copy.deepcopy(value)
                self.kept.append(f"{at} is replaced")
            elif key in _USERS_OWN or where.endswith(".generate"):
                self.kept.append(f"{at} is not what archfit writes, and stays as it is")
            elif isinstance(value, dict) and isinstance(there[key], dict) and key != "emptyDir":
                self._mapping(there[key], value, at)
            else:
                self.conflicts.append(f"{at} is {_short(there[key])}, and archfit needs {_short(value)}")

    def _path(self, folder: str, default: str) -> None:
        where = ".".join(self._places.env) + "[PATH]"
        variables = self._list(self._places.env)
        own = [one for one in variables if isinstance(one, dict) and one.get("name") == "PATH"]
        before = [
            one
            for keys in self._places.more_env
            for one in _found(self.data, keys) or []
            if isinstance(one, dict) and one.get("name") == "PATH"
        ]
        found = own or before
        value = found[-1].get("value") if found else default
        if not isinstance(value, str):
            self.conflicts.append(
                f"{where} has no value in this file: write a value that begins with {folder}:"
            )
            return
        if folder in value.split(":"):
            return
        # Twice the same name in a list of variables is refused by a server-side apply, as Helm 4 makes it.
        if found:
            found[-1]["value"] = f"{folder}:{value}"
        else:
            variables.append(CommentedMap(name="PATH", value=f"{folder}:{value}"))
        self.added.append(where if own or not before else ".".join(self._places.more_env[0]) + "[PATH]")

    def _options(self) -> None:
        field, mapping = self._places.option_field, self._places.options
        there = _found(self.data, mapping)
        named = [key for key in there if str(key).startswith(OPTIONS)] if isinstance(there, dict) else []
        if field and OPTIONS not in named:
            self._flags(self._holder(field[:-1]), field[-1], ".".join(field))
        elif not field and OPTIONS not in named:
            named.append(OPTIONS)
        for key in named:
            self._flags(self._holder(mapping), key, f"{'.'.join(mapping)}[{key}]")

    def _flags(self, holder: Any, key: str, where: str) -> None:
        text = holder.get(key)
        if text is not None and not isinstance(text, str):
            self.conflicts.append(f"{where} is not a text: write the options as one text")
            return
        new, conflicts = with_flags(text or "")
        self.conflicts += [
            f"{where} says {one}, and archfit needs {one.partition('=')[0]}" for one in conflicts
        ]
        if not conflicts and new != (text or ""):
            holder[key] = new
            self.added.append(where)

    def _set(self, holder: Any, key: str, value: Any, where: str) -> None:
        holder[key] = copy.deepcopy(value)
        self.added.append(where)

    def _holder(self, keys: Keys) -> Any:
        """The mapping at a path, made where it is missing."""
        data = self.data
        for depth, key in enumerate(keys):
            if data.get(key) is None:
                data[key] = CommentedMap()
            data = self._own(data, key)
            if not isinstance(data, dict):
                raise NoPlace(f"{'.'.join(keys[: depth + 1])} is not a mapping")
        return data

    def _list(self, keys: Keys) -> Any:
        holder = self._holder(keys[:-1])
        found = holder.get(keys[-1])
        if found is None or found == []:
            # An empty list is written as [], in which lines have no place.
            holder[keys[-1]] = CommentedSeq()
        elif not isinstance(found, list):
            raise NoPlace(f"{'.'.join(keys)} is not a list")
        return self._own(holder, keys[-1])

    @staticmethod
    def _own(holder: Any, key: str) -> Any:
        """The value of a key, as the holder's alone: other users of an anchor keep theirs."""
        value = holder[key]
        anchor = getattr(value, "yaml_anchor", lambda: None)()
        if anchor is not None or (getattr(holder, "merge", None) and key not in _keys_written(holder)):
            value = copy.deepcopy(value)
            if anchor is not None:
                value.yaml_set_anchor(None)
            holder[key] = value
        return value


class NoPlace(Exception):
    """The user's file has another shape, in words."""


def with_flags(text: str) -> tuple[str, list[str]]:
    """(the options of `kustomize build` with FLAGS, those words that switch one off). Argo CD splits at blanks."""
    last = {}
    for word in text.split():
        flag, _, value = word.partition("=")
        if flag in FLAGS:
            last[flag] = value
    off = [f"{flag}={value}" for flag, value in last.items() if value not in _TRUE]
    missing = [flag for flag in FLAGS if flag not in last]
    return " ".join([*([text.strip()] if text.strip() else []), *missing]) if missing else text, off


def without_comments(value: Any) -> Any:
    """A copy that keeps flow style and blocks of text."""
    if isinstance(value, dict):
        made: Any = CommentedMap((key, without_comments(one)) for key, one in value.items())
    elif isinstance(value, tuple):
        return tuple(without_comments(one) for one in value)
    elif isinstance(value, list):
        made = CommentedSeq(without_comments(one) for one in value)
    else:
        return value
    if isinstance(value, (CommentedMap, CommentedSeq)) and value.fa.flow_style():
        made.fa.set_flow_style()
    return made


def _keys_written(holder: Any) -> Iterator[Any]:
    return (key for key, _ in holder.non_merged_items())


def _found(data: Any, keys: Keys) -> Any:
    for key in keys:
        if not isinstance(data, dict):
            return None
        data = data.get(key)
    return data


def _at(item: Any, dotted: str) -> Any:
    return _found(item, tuple(dotted.split(".")))


def _short(value: Any) -> str:
    text = str(value)
    return repr(text if len(text) <= 60 else text[:57] + "...")
