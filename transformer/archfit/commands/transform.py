"""`archfit [transform]`: stdin -> stdout.

    read stdin ─ frame ─ pipeline ─┬─ report ─ write stdout ─ summary on stderr      exit 0
                                   └─ report ─ errors on stderr, stdout empty        exit 1

A ResourceList is known by what it is, and the run is a KRM function's: its functionConfig counts, what there is to say
stands in its `results` too, and after a failure it is written back unedited.

The report is made before the output, beside its place, and takes its place after it: a report that was asked for and
cannot be written fails the run, and none says that a run is done before it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from archfit import standard_streams, stream
from archfit.commands.last import Report
from archfit.errors import ArchfitError, InvalidInput, OutputError
from archfit.files import read_file
from archfit.images.platforms import Unknown
from archfit.lookup.session import LookupSession
from archfit.options.load import load
from archfit.options.settings import Settings
from archfit.pipeline import Transformed, transform
from archfit.report.text import failure, lines, summary
from archfit.results import Result
from archfit.stream import ChangedSpan, Splice
from archfit.typing_names import BinaryIO, TextIO

TYPE_CHECKING = False
if TYPE_CHECKING:
    from archfit.integrations.kustomize.resource_list import FunctionInput
    from archfit.options.layers import Layer

_PROGRAM = "archfit transform"
ABOUT = """\
Reads rendered Kubernetes YAML on standard input, finds out which CPU architectures every image supports, and writes
the same YAML with the tolerations or the kubernetes.io/arch node affinity that each pod needs.

  helm template . | archfit | kubectl apply -f -
  helm upgrade --install web ./chart --post-renderer archfit          (Helm 3; for Helm 4: archfit setup helm)

Other commands: check, patch, lock, inspect, login-check, setup cluster, setup helm, last.
Exit: 0 done, 1 failed (standard output is empty), 2 wrong usage."""


def run(
    argv: Sequence[str], stdin: BinaryIO, stdout: BinaryIO, stderr: TextIO, environ: Mapping[str, str]
) -> int:
    """The command, after its name. The exit code; raises ArchfitError."""
    if argv:
        from archfit.options.arguments import wanted

        asked = wanted(argv)
        if asked:
            stdout.write(_answered(asked).encode())
            return 0
    elif stdin.isatty():
        stderr.write(_answered("help"))
        return 2
    try:
        return _run(argv, stdin, stdout, stderr, environ)
    except OutputError:
        raise
    except ArchfitError as error:
        _keep_failure(str(error), error.exit_code, environ)
        raise
    except Exception as error:
        _keep_failure(
            f"archfit itself failed ({type(error).__name__}); its standard error says where", 1, environ
        )
        raise


def _run(
    argv: Sequence[str], stdin: BinaryIO, stdout: BinaryIO, stderr: TextIO, environ: Mapping[str, str]
) -> int:
    data = standard_streams.read(stdin)
    function = _function(data)
    try:
        layer = _layer(function) if function else None
        job = Job(load(argv, environ, read_file, application=layer), environ, stderr, function)
        try:
            return job.run(data, stdout)
        finally:
            job.close()
    except OutputError:
        raise
    except Exception as error:
        if function:
            _give_back(function, error, stdout)
        raise


def _function(data: bytes) -> FunctionInput | None:
    if data.find(b"ResourceList") < 0:
        return None
    from archfit.integrations.kustomize.resource_list import recognised

    return recognised(data)


def _layer(function: FunctionInput) -> Layer | None:
    from archfit.integrations.kustomize.resource_list import function_config
    from archfit.options.function_config import from_function_config

    return from_function_config(function_config(function))


def _give_back(function: FunctionInput, error: Exception, stdout: BinaryIO) -> None:
    """Writes the list as it came: an orchestrator that reads it all the same must lose nothing."""
    from archfit.integrations.kustomize.resource_list import with_results

    said = (
        str(error) if isinstance(error, ArchfitError) else f"archfit itself failed ({type(error).__name__})"
    )
    try:
        splices = with_results(function, [Result("error", said)], ())
    except ArchfitError:  # the list has no place for results: standard error says what is wrong
        splices = ()
    standard_streams.write(stdout, stream.write(function.data, splices))


def _answered(asked: str) -> str:
    from archfit import __version__

    if asked == "version":
        return f"archfit {__version__}\n"
    from archfit.options.describe import help_text

    return help_text("archfit [transform] [OPTION]...  < rendered.yaml > placed.yaml", ABOUT)


def _keep_failure(message: str, code: int, environ: Mapping[str, str]) -> None:
    """Leaves a report where the run came to none: under Helm 4 it is all that can be read afterwards."""
    from archfit.commands.last import prepared

    results = [Result("error", message)]
    prepared(
        None,
        results,
        (),
        exit_code=code,
        sources=(),
        requests={},
        path="",
        environ=environ,
        command=_PROGRAM,
    ).commit()


class Job:
    """One run: its settings, its lookup, and what it has to say.

    named_hosts_only: as `asking.LookupSession` takes it. program: what the report calls the run.
    """

    def __init__(
        self,
        settings: Settings,
        environ: Mapping[str, str],
        stderr: TextIO,
        function: FunctionInput | None = None,
        *,
        named_hosts_only: bool = False,
        program: str = _PROGRAM,
    ) -> None:
        self._program = program
        self._settings = settings
        self._environ = environ
        self._stderr = stderr
        self._function = function
        # A function runs wherever its caller does, on whatever images the package names.
        named_hosts_only = named_hosts_only or function is not None
        self._asking = LookupSession(settings, environ, stderr, named_hosts_only=named_hosts_only)

    def run(self, data: bytes, stdout: BinaryIO, before_output: Callable[[], None] = lambda: None) -> int:
        """The exit code. before_output: called when all is decided, before the first byte is written."""
        options = self._settings.options
        try:
            read = stream.read(data, options.on_blank)
        except InvalidInput as error:
            return self._failed(None, [Result.from_error(error)], stdout)
        self._asking.use_pull_secrets([(read.data, read.pieces)])
        transformed = transform(read.data, read.pieces, options, self._asking.answers)
        results = [*read.results, *self._asking.messages, *transformed.results]
        if self._function and any(isinstance(answer, Unknown) for answer in transformed.answers.values()):
            from archfit.integrations.kustomize.no_network import told

            results += told(transformed)
        if transformed.failed():
            return self._failed(transformed, results, stdout)
        splices = self._with_results(transformed, results, transformed.splices)
        report = self._report(transformed, results, 0, stream.changed_spans(read.data, splices))

        def write() -> None:
            before_output()
            standard_streams.write(stdout, stream.write(read.data, splices))

        report.commit_after(write)
        self._say(lines(results))
        requests = sum(self._asking.requests.values())
        self._say([summary(transformed.decisions, len(transformed.answers), requests)])
        return 0

    def close(self) -> None:
        self._asking.close()

    def _with_results(
        self, transformed: Transformed | None, results: list[Result], splices: tuple[Splice, ...] = ()
    ) -> tuple[Splice, ...]:
        if not self._function:
            return splices
        from archfit.integrations.kustomize.resource_list import with_results

        pods = [pod for pod, _ in transformed.decisions] if transformed else []
        return with_results(self._function, results, pods, splices)

    def _failed(self, transformed: Transformed | None, results: list[Result], stdout: BinaryIO) -> int:
        from archfit.report.terminal import say_on_terminal

        said = lines(results)
        try:
            self._report(transformed, results, 1, ()).commit()
            if self._function:
                whole = stream.write(self._function.data, self._with_results(transformed, results))
                standard_streams.write(stdout, whole)
        finally:
            self._say([failure(results), *said])
            say_on_terminal(said[-1], self._stderr, self._environ)
        return 1

    def _report(
        self, transformed: Transformed | None, results: list[Result], code: int, edits: Sequence[ChangedSpan]
    ) -> Report:
        from archfit.commands.last import prepared

        return prepared(
            transformed,
            results,
            edits,
            exit_code=code,
            sources=self._settings.sources,
            requests=self._asking.requests,
            path=self._settings.operator.report,
            environ=self._environ,
            command=self._program,
        )

    def _say(self, texts: list[str]) -> None:
        try:
            for text in texts:
                if text:
                    self._stderr.write(text + "\n")
            self._stderr.flush()
        except OSError:
            pass  # What nobody can read changes nothing of what was written.
