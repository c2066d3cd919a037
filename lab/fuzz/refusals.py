"""Why archfit may refuse what kubectl and kustomize both take; any other refusal of such a stream is a defect."""

import re

_NO_PLACE = "there is no place for an edit"
_USELESS = "the API server refuses it"

# A message, and why it is right; with a third member, only for texts that hold it.
REASONS: tuple[tuple[str, str] | tuple[str, str, bytes], ...] = (
    (r"^functionConfig", "the configuration says something that no option takes"),
    (
        r"has to be a (mapping|list|single text|string|boolean|number), but|write it as the Kubernetes API does$",
        _USELESS,
    ),
    (r"^this is (not|a list, not|text, not) a Kubernetes object", _USELESS),
    (r"^(there is no annotation )?archfit\.dev/", "an annotation of archfit's own is wrong"),
    (r"cannot be removed on its own: ", _NO_PLACE),
    (r"^this is the source of a Helm chart", _USELESS),
    (r"^the key stands twice", "kubectl takes the last one, kustomize mostly refuses"),
    (r"no node can pull it", "the kubelet refuses it"),
    (r"so what this run adds cannot be recorded", _NO_PLACE),
    (r"^a '%' directive stands here", "a directive without a document behind it is cut off", b"%"),
    (r"a second document begins here", "libyaml knows more line breaks: CR", b"\r"),
    (r"a second document begins here", "libyaml knows more line breaks: LS, PS", b"\xe2\x80"),
    (r"a second document begins here", "libyaml knows more line breaks: NEL", b"\xc2\x85"),
    (r"^text stands behind '---'", "libyaml knows more line breaks: NEL", b"\xc2\x85"),
    (r"^text stands behind '---'", "libyaml knows more line breaks: LS, PS", b"\xe2\x80"),
    (r"^this is not YAML: while scanning a tag|unknown escape character", "libyaml reads fewer tags and escapes"),
    (r"while scanning a plain scalar found unexpected ':'", "libyaml reads no key such as 's:' in flow style", b":"),
    (r"while scanning for the next token found character", "libyaml takes no tab before a comment", b"\t#"),
    (r"kubectl and kustomize drop it silently|did not find expected <document start>", "text would be lost"),
    (r"results of the ResourceList (is (not a list|an alias)|have an anchor)", _NO_PLACE),
    (r"^(an image cannot be looked up|\S+: its platforms cannot be looked up)", "a malformed reference, and --strict"),
    ("its platforms cannot be looked up: (no image is named|Argo adds)", "--strict"),
    (r"^a line begins with '---' and goes on", _USELESS),
    (r"cannot be edited: a (value there has a tag|blank line below it holds a tab)", _NO_PLACE),
    (r"cannot be edited: an explicit key|cannot be edited: a key without ':'", _NO_PLACE),
    (r"cannot be edited: an anchor stands where the value is missing", _NO_PLACE),
    (r"cannot be edited: the value there is neither a mapping nor a list, or a tag", _NO_PLACE),
    (r"the text ends inside a block scalar, behind which something has to be added", _NO_PLACE),
    (r"has a byte order mark at the start of a line", "parsers disagree on it"),
    (r"^a byte order mark stands at the start of this document", "kubectl reads it as a part of the first key"),
    (r"of an object ends in a line break", "no API server has such a kind"),
    (r"holds a bare CR, NEL, LS or PS", "parsers disagree on its lines"),
    (r"^this is not YAML", "a byte order mark inside of a document is none", b"\xef\xbb\xbf"),
    (r"cannot be edited: a mapping of one pair in a flow sequence", _NO_PLACE),
    (r"^this is a kustomization", _USELESS),
    (r"^its items are no list", "kubectl refuses it once it makes objects of it"),
    (r"the character U\+0000 is not allowed in it", "Kubernetes' readers end there, and drop what follows", b"\0"),
    (r"^this is not YAML: while parsing a block node", "libyaml knows more line breaks: CR", b"\r"),
    (r"collections are nested more than|its aliases stand for", "a limit"),
    (r"kubectl and kustomize disagree on which one counts", "readers disagree"),
)  # fmt: skip
_FOUND = tuple((re.compile(row[0], re.DOTALL).search, row[1], b"".join(row[2:])) for row in REASONS)


def reason(message: str, text: bytes) -> str:
    """Why the message is justified for the text, "" if nothing says so."""
    return next((why for matches, why, held in _FOUND if held in text and matches(message)), "")
