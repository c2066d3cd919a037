"""The C parser without the rest of PyYAML gives what it gives with it."""

import json
import sys

import machine

LAZY = {
    "yaml.reader",
    "yaml.resolver",
    "yaml.constructor",
    "yaml.scanner",
    "yaml.loader",
    "datetime",
}
TEXTS = [
    "",
    "a: 1\nb: [x, &y z, *y]\n",
    "- !t |\n  text\n- {? k : v}\n",
    "%YAML 1.1\n---\na: 'b'\n...\n",
    '{"a": "\\u00e9\\/", "b": null}',
    "a: [\n",
    "a: b: c\n",
    "*nobody\n",
    "a: \t\x01\n",
    "a: '\n",
    "\ud800",
    "&a &b c\n",
    "a: 1\n--- b\n",
]
READ = """
import json, sys
{first}
from archfit.yaml import tree
{then}
told = []
for text in json.load(sys.stdin):
    try:
        get, found = tree.events_of(text), []
        while True:
            event = get()
            mark = event.start_mark
            found.append([type(event).__name__, str(vars(event).get("value")), mark.index, mark.line, mark.column])
            if isinstance(event, tree.StreamEnd):
                break
        told.append(found)
    except tree.MarkedError as error:
        told.append(["marked", str(error.problem), str(error.context), str(error)])
    except tree.ReaderError as error:
        told.append(["reader", error.position, error.reason])
    except UnicodeError as error:
        told.append(["unicode", type(error).__name__])
print(json.dumps([told, sorted(sys.modules), tree.C_EXTENSION]))
"""


def read(first: str = "", then: str = "", texts: list[str] = TEXTS) -> tuple[object, set[str], bool]:
    """What a fresh process reads, the modules it has then, and whether the C parser read."""
    done = machine.run(
        [sys.executable, "-c", READ.format(first=first, then=then)], input=json.dumps(texts), check=True
    )
    told, modules, extension = json.loads(done.stdout)
    return told, set(modules), extension


def test_it_reads_alone_what_it_reads_with_the_whole_package():
    alone, modules, extension = read()
    whole, more, _ = read(first="import yaml")
    assert extension
    assert alone == whole
    assert modules & LAZY == set()
    assert "yaml" not in modules
    assert more >= LAZY - {"datetime"}


def test_whoever_imports_the_package_later_gets_all_of_it():
    then = (
        "import yaml\n"
        "assert yaml.safe_load('a: [1, 2026-11-21]')['a'][1].year == 2026\n"
        "assert yaml.load('a: 1', yaml.CSafeLoader) == {'a': 1}\n"
        "try:\n"
        "    yaml.load('a: [', yaml.CSafeLoader)\n"
        "    raise AssertionError\n"
        "except yaml.YAMLError as error:\n"
        "    assert isinstance(error, yaml.MarkedYAMLError) and error.problem_mark\n"
        "found = [type(one) for one in yaml.scan('a: [&b !c d]', yaml.CSafeLoader)]\n"
        "assert found == [type(one) for one in yaml.scan('a: [&b !c d]', yaml.SafeLoader)]\n"
        "assert yaml.dump({'a': ['b']}, Dumper=yaml.CSafeDumper) == yaml.safe_dump({'a': ['b']})\n"
        "from yaml import events\n"
        "assert tree.Scalar is yaml.ScalarEvent is events.ScalarEvent\n"
    )
    assert read(then=then)[0] == read()[0]


def test_another_version_that_is_built_otherwise_is_loaded_whole():
    first = (
        "from archfit.startup import c_parser\n"
        "def namespace(name, **members):\n"
        "    raise AttributeError(name)\n"
        "c_parser._namespace = namespace\n"
    )
    told, modules, extension = read(first=first)
    assert told == read()[0]
    assert extension
    assert "yaml" in modules


def test_without_the_extension_the_pure_parser_reads():
    first = "import sys\nsys.modules['yaml._yaml'] = None"
    told, modules, extension = read(first=first, texts=TEXTS[1:2])
    assert not extension
    assert "yaml.scanner" in modules
    assert told == read(texts=TEXTS[1:2])[0]


def test_each_call_gives_the_errors_that_the_extension_raises():
    """A run with a configuration file loads the parser for it, and again for the stream."""
    first = "from archfit.startup import c_parser\nassert c_parser.load() is c_parser.load()\n"
    assert read(first=first)[0] == read()[0]
