"""The words that streams are made of: values, ends of lines and of streams, and what stands at the wrong place."""

# fmt: off
IMAGES = (
    "a", "b", "nginx", "xnginx", "nginx:1", "r.io/a/b:2", "c", "d:3", "e", "registry.local/x/y:4.5",
)
SCRIPTS = (
    "echo", "echo\n", "one\ntwo\n", "one\n\n  two\n\n", "---\nx\n", "kind: Pod\n", "# c\n", " x\ny\n",
    "a\n\n\n", "\n", "x\n ",
)
TEXTS = (
    "web", "a b", "on", "012", "1e3", "", "\xe9", "x: y", "# no", "- z", "null", "{a}", "'q'", '"', "a\nb\n",
    "08", "~", "=",
)
# Plain text whose value is read in more than one way.
ODD = (
    "08", "0x_", "0o17", "0b1", "1_000", "1e3", ".5", ".inf", "-.nan", "12:30:45", "1.", "+1", "-", "~", "=",
    "on", "y", "2001-01-01", "0x1F", "!!str 1", "!!int 08", "!!null ''", "!!binary YQ==", "! a", "!x a",
    "1" * 30, "9" * 5000, "1e400", "-0", "0.0", "1__0", "'", '"\\ud83d\\ude00"', '"\\u0000"', "!!bool yes",
    "!!float 1", "!!timestamp 2001-01-01",
)
TAILS = (
    "\n", "\n\n", " ", "\t", "\n ", "\n\t", "\n \n", "\n   \n", " \n", "...\n", "\n...", "# c", "\n# c", "---",
    "---\n", "\n---\n# c", "\r\n", "  # c", "\n  # c\n", "\x00", "\ufeff", "\u2028", "\n...\n# c\n",
    "---\n---\n",
)
BLANKS = (
    "", "", "  ", "\t", " \t", "   \t", "    # c", "#", "# c", "\r", "      ", "\t# c", "\xa0",
)
SEPARATORS = (
    "---", "---", "--- ", "---\t", "---# c", "---#", "--- # c", "---\r", "...\n---",
    "---\n# Source: c/t/y.yaml", "---\n---", "---\n\ufeff", "--- |", "---a", "...", "--- {}", "---\nnull",
    "---\n{}\n---", "%YAML 1.1\n---",
)
TOKENS = (
    "\t", "{", "}", "]", "[", '"', "'", "- ", "*x", "&x ", ": ", "\r", "|", ">", "\x85", "\u2028", "\ufeff",
    "!!null ", "!!str ", "!x ", "? ", "%", "@", "`", "#", " #", ",", "\n", " ", "<<: ", "\\", "\x07", "\xe9",
    "\U0001f600", "-", "=", "?", ".inf", "\\/",
)
EMPTY = (
    "", "", "# c", "null", "~", "{}", "[]", "''", "[ ]", "{ }", "{} # c", "!!null", "&x", "{\n}", "[\n]", "Null",
)
TAGS = ("!!str", "!!null", "!", "!x", "!!int", "!!binary", "!!map", "!!seq", "!!bool", "!!float")
ITEMS = ("- {}", "- null", "-", "- []", "- *x", "- &x {}", "-\t", "- - a", "- {a: 1, a: 2}", "- # c")
ALIASES = ("*x", "*x", "*x # c", "[*x]", "{a: *x}", "[*x, *x]", "&x", "*x ")
BODIES = ("x", "x\ny", "x\n\ny", "", "x ", "#x", "- x", "x: y")
ENDS = ("", "\n", "\n\n", "\n\n\n", "\n ", "\n  \n", "\n      ", "\n\t", "\n \n\n", "\n# c\n")
STAMPS = (
    "[]", "x", "{}", "null", "[" * 300, "[" * 5000 + "]" * 5000, "[{}]",
    '[{"path":"/spec/tolerations/-","value":' + "[" * 2000 + "]" * 2000 + "}]",
    '[{"path":"/spec/tolerations","value":[1]},{"path":"/metadata/annotations"}]',
)
