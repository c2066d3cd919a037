"""Images that parameters name, where the object itself says every value: no caller can choose another one.

    Workflow, CronWorkflow    {{workflow.parameters.x}}   spec.arguments.parameters[].value
                              {{inputs.parameters.x}}     what each caller in the object passes, else the template's own
                                                          value; known where all of them are equal
    TaskRun, PipelineRun      $(params.x)                 spec.params[].value, else the default of the embedded spec

A Workflow may be submitted with another value (`argo submit -p`): the one that it states narrows, and one more image is
unknown.

Not known, so that the text stays as it is: an object that others call (WorkflowTemplate, Task, Pipeline) or that
another one fills in (a Workflow in a Sensor, an OpenShift Template); a value from a ConfigMap, an output or a loop
({{item}}); an expression ({{=..}}); a name that stands twice, or in the scope of a task, too.

Source: argo-workflows, workflow/controller/operator.go (setGlobalParameters) and workflow/common/util.go (ProcessArgs);
tektoncd/pipeline, pkg/reconciler/pipelinerun/resources/apply.go (ApplyParameters, propagateParams).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

from archfit.base.patch import Path
from archfit.options.settings import ANNOTATE
from archfit.workloads.patterns import get
from archfit.workloads.pods import ImageUse

Values: TypeAlias = Mapping[str, "str | None"]  # None: not known

_ARGO = re.compile(r"\{\{\s*(workflow|inputs)\.parameters\.([\w-]+)\s*\}\}")
_TEKTON = re.compile(r"""\$\((?:inputs\.)?params(?:\.([\w-]+)|\["([^"]+)"\]|\['([^']+)'\])\)""")
_SUBMITTED = "a Workflow may be submitted with another value of the parameter" + ANNOTATE
_WORKFLOWS: Mapping[str, Path] = {"Workflow": ("spec",), "CronWorkflow": ("spec", "workflowSpec")}
_RUNS: Mapping[str, str] = {"TaskRun": "taskSpec", "PipelineRun": "pipelineSpec"}


class Parameters:
    """Those of one object, each worked out once. value: the object."""

    def __init__(self, group: str, kind: str, value: dict[str, Any]) -> None:
        self._kind = kind
        self._workflow: _Workflow | None = None
        self._run: Values | None = None
        if group == "argoproj.io" and kind in _WORKFLOWS:
            spec = get(value, _WORKFLOWS[kind])
            if isinstance(spec, dict) and not spec.get("workflowTemplateRef"):
                self._workflow = _Workflow(spec)
        elif group == "tekton.dev" and kind in _RUNS and isinstance(value.get("spec"), dict):
            self._run = _run_values(value["spec"], _RUNS[kind])

    def resolved(self, use: ImageUse) -> Iterator[ImageUse]:
        """The use with the image that its parameters name, or as it is. use.path: from the object's root."""
        known = self._resolved(use)
        yield known
        if self._kind == "Workflow" and known is not use and known.text != use.text:
            yield ImageUse(use.path, None, unasked=_SUBMITTED)

    def _resolved(self, use: ImageUse) -> ImageUse:
        text = use.text or ""
        if self._workflow and "{{" in text:
            return use.replace(text=self._workflow.image(text, use.path[len(_WORKFLOWS[self._kind]) :]))
        if self._run is not None and "$(" in text:
            run = self._run
            image = _TEKTON.sub(lambda match: _text(run, match[1] or match[2] or match[3], match[0]), text)
            return use.replace(text=image if "$" not in image else text)
        return use


def _text(values: Values, name: str, otherwise: str) -> str:
    value = values.get(name)
    return otherwise if value is None else value


def _is_template(path: Path) -> bool:
    """Whether it is in a template that has a name, not in an inline one."""
    return path[:1] == ("templates",) and path[2] not in ("steps", "dag")


class _Workflow:
    def __init__(self, spec: dict[str, Any]) -> None:
        self._spec = spec
        self._own = _given(_listed(spec, "arguments"))
        self._inputs: dict[Any, Values] = {}
        self._passed: dict[str, list[Values]] = {}
        self._every_call_known = get(spec, ("templateDefaults", "inputs")) is None
        for callee, arguments in _calls(spec):
            if not isinstance(callee, str) or "{" in callee:
                self._every_call_known = False
                break
            self._passed.setdefault(callee, []).append(_given(arguments, self._fill))

    def image(self, text: str, path: Path) -> str:
        """The image at a path of the spec."""
        inputs = self._inputs_of(path[1]) if _is_template(path) else {}
        scopes = {"workflow": self._own, "inputs": inputs}
        filled = _ARGO.sub(lambda match: _text(scopes[match[1]], match[2], match[0]), text)
        return filled if "{" not in filled else text

    def _inputs_of(self, number: Any) -> Values:
        """The inputs of a template, of which every caller passes the same."""
        if number not in self._inputs:
            self._inputs[number] = self._worked_out(get(self._spec, ("templates", number)))
        return self._inputs[number]

    def _worked_out(self, template: Any) -> Values:
        name = template.get("name") if isinstance(template, dict) else None
        if not isinstance(name, str) or not self._every_call_known:
            return {}
        default = _given(_listed(template, "inputs"), self._fill)
        known: dict[str, str | None] = {}
        for parameter in default:
            values = {given.get(parameter, default[parameter]) for given in self._passed.get(name, ())}
            known[parameter] = values.pop() if len(values) == 1 else None
        return known

    def _fill(self, text: str) -> str:
        scopes: dict[str, Values] = {"workflow": self._own, "inputs": {}}
        return _ARGO.sub(lambda match: _text(scopes[match[1]], match[2], match[0]), text)


def _calls(spec: dict[str, Any]) -> Iterator[tuple[Any, list[Any]]]:
    """(template, parameters that are passed) of everything in a workflow that runs a template."""
    for name in ("entrypoint", "onExit"):
        if name in spec:
            yield spec[name], _listed(spec, "arguments")
    pending: list[Any] = [spec.get("hooks"), spec.get("templates"), spec.get("templateDefaults")]
    while pending:
        value = pending.pop()
        if isinstance(value, dict):
            if "template" in value:
                yield value["template"], _listed(value, "arguments")
            if isinstance(value.get("onExit"), str):
                yield value["onExit"], []
        if isinstance(value, (dict, list)):
            pending += value.values() if isinstance(value, dict) else value


def _run_values(spec: dict[str, Any], embedded: str) -> Values:
    """The parameters of a run of Tekton, without those that a task has, too."""
    inside = spec.get(embedded)
    inside = inside if isinstance(inside, dict) else {}
    defaults = _given(_list(inside.get("params")), key="default")
    tasks = [task for name in ("tasks", "finally") for task in _list(inside.get(name))]
    hidden = dict.fromkeys(name for task in tasks for name in _task_names(task))
    return {**defaults, **_given(_list(spec.get("params"))), **hidden}


def _task_names(task: Any) -> Iterator[str]:
    for at in (("params",), ("matrix", "params"), ("taskSpec", "params")):
        yield from _given(_list(get(task, at) if isinstance(task, dict) else None))


def _listed(holder: Any, key: str) -> list[Any]:
    return _list(get(holder, (key, "parameters")) if isinstance(holder, dict) else None)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _given(
    parameters: list[Any], fill: Callable[[str], str] = str, key: str = "value"
) -> dict[str, str | None]:
    """The values by name; None for those that no constant text gives."""
    values: dict[str, str | None] = {}
    for parameter in parameters:
        name = parameter.get("name") if isinstance(parameter, dict) else None
        if isinstance(name, str):
            text = parameter.get(key)
            constant = type(text) is str and "valueFrom" not in parameter and name not in values
            filled = fill(text) if constant else ""
            values[name] = filled if filled and not any(mark in filled for mark in ("{", "$(")) else None
    return values
