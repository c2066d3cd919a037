// The judge of generated CEL: the API server's own compiler, evaluator and patcher (k8s.io/apiserver), without a server.
//
// One line of JSON for each line of JSON:
//
//	{"policy": {..}, "params": {..}, "version": "1.33"}   compiles a MutatingAdmissionPolicy as that version would check a
//	                                                       new one; answers {"errors": [..]}
//	{"policy": {..}, "companion": {..}, "own": {..}}       with a ValidatingAdmissionPolicy beside it, and its param
//	{"pod": {..}, "namespace": "shop"}                     the pod as the policy leaves it, {"pod": {..}} with the
//	                                                       companion's "warnings", and the "error" that was ignored, if any
//	{"pod": .., "show": ["known"]}                         the values of these variables too, as {"shown": {..}}
//	{"pod": .., "normalise": true}                         the pod as Kubernetes' types write it, whatever the policy says
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"reflect"

	celgo "github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types/ref"
	"google.golang.org/protobuf/types/known/structpb"
	admissionv1 "k8s.io/api/admission/v1"
	admissionregistration "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apiserver/pkg/admission"
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/policy/mutating/patch"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/client-go/kubernetes/scheme"
)

type question struct {
	Policy    *admissionregistration.MutatingAdmissionPolicy   `json:"policy"`
	Params    map[string]any                                   `json:"params"`
	Companion *admissionregistration.ValidatingAdmissionPolicy `json:"companion"`
	Own       map[string]any                                   `json:"own"`
	Version   string                                           `json:"version"`
	Pod       json.RawMessage                                  `json:"pod"`
	Namespace string                                           `json:"namespace"`
	Show      []string                                         `json:"show"`
	Normalise bool                                             `json:"normalise"`
}

type answer struct {
	Errors   []string        `json:"errors"`
	Pod      json.RawMessage `json:"pod,omitempty"`
	Error    string          `json:"error,omitempty"`
	Matches  bool            `json:"matches"`
	Warnings []string        `json:"warnings"`
	Shown    map[string]any  `json:"shown,omitempty"`
}

type variable struct{ name, expression string }

func (v *variable) GetName() string            { return v.name }
func (v *variable) GetExpression() string      { return v.expression }
func (v *variable) ReturnTypes() []*celgo.Type { return []*celgo.Type{celgo.AnyType, celgo.DynType} }

// Of one kind: conditions and validations are booleans, messages are strings.
type condition struct {
	expression string
	kind       *celgo.Type
}

func (c *condition) GetExpression() string      { return c.expression }
func (c *condition) ReturnTypes() []*celgo.Type { return []*celgo.Type{c.kind} }

type policy struct {
	compiler   *plugincel.CompositedCompiler
	conditions plugincel.ConditionEvaluator
	patchers   []patch.Patcher
	params     runtime.Object
	options    plugincel.OptionalVariableDeclarations
	companion  *companion
}

type companion struct {
	conditions, validations, messages plugincel.ConditionEvaluator
	params                            runtime.Object
}

// A compiler that knows the variables, and what it cannot compile.
func withVariables(variables []admissionregistration.Variable, options plugincel.OptionalVariableDeclarations, base *environment.EnvSet) (*plugincel.CompositedCompiler, []string) {
	compiler, err := plugincel.NewCompositedCompiler(base)
	if err != nil {
		panic(err)
	}
	problems := []string{}
	for _, one := range variables {
		if result := compiler.CompileAndStoreVariable(&variable{one.Name, one.Expression}, options, environment.NewExpressions); result.Error != nil {
			problems = append(problems, fmt.Sprintf("variable %s: %v", one.Name, result.Error))
		}
	}
	return compiler, problems
}

func compiled(compiler *plugincel.CompositedCompiler, expressions []string, kind *celgo.Type, options plugincel.OptionalVariableDeclarations) (plugincel.ConditionEvaluator, []string) {
	accessors, problems := []plugincel.ExpressionAccessor{}, []string{}
	for _, one := range expressions {
		accessors = append(accessors, &condition{one, kind})
		if result := compiler.CompileCELExpression(accessors[len(accessors)-1], options, environment.NewExpressions); result.Error != nil {
			problems = append(problems, fmt.Sprintf("%s: %v", one, result.Error))
		}
	}
	return compiler.CompileCondition(accessors, options, environment.NewExpressions), problems
}

// Without variables: the API server checks match conditions so.
func matching(conditions []admissionregistration.MatchCondition, options plugincel.OptionalVariableDeclarations, base *environment.EnvSet) (plugincel.ConditionEvaluator, []string) {
	compiler, problems := withVariables(nil, options, base)
	expressions := []string{}
	for _, one := range conditions {
		expressions = append(expressions, one.Expression)
	}
	evaluator, wrong := compiled(compiler, expressions, celgo.BoolType, options)
	return evaluator, append(problems, wrong...)
}

func compileCompanion(given *question, base *environment.EnvSet) (*companion, []string) {
	made := &companion{params: &unstructured.Unstructured{Object: given.Own}}
	options := plugincel.OptionalVariableDeclarations{HasParams: true}
	compiler, problems := withVariables(given.Companion.Spec.Variables, options, base)
	validations, messages := []string{}, []string{}
	for _, one := range given.Companion.Spec.Validations {
		validations, messages = append(validations, one.Expression), append(messages, one.MessageExpression)
	}
	var wrong [3][]string
	made.conditions, wrong[0] = matching(given.Companion.Spec.MatchConditions, options, base)
	made.validations, wrong[1] = compiled(compiler, validations, celgo.BoolType, options)
	made.messages, wrong[2] = compiled(compiler, messages, celgo.StringType, options)
	return made, append(append(append(problems, wrong[0]...), wrong[1]...), wrong[2]...)
}

// What it warns of. The API server evaluates each message, also where nothing is wrong.
func (c *companion) warnings(of func() *admission.VersionedAttributes, request *admissionv1.AdmissionRequest, namespace *corev1.Namespace) ([]string, string) {
	optional := plugincel.OptionalVariableBindings{VersionedParams: c.params}
	results := [3][]plugincel.EvaluationResult{}
	for at, one := range []plugincel.ConditionEvaluator{c.conditions, c.validations, c.messages} {
		var err error
		results[at], _, err = one.ForInput(context.Background(), of(), request, optional, namespace, celconfig.RuntimeCELCostBudget)
		if err != nil {
			return nil, err.Error()
		}
		for _, result := range results[at] {
			if result.Error != nil {
				return nil, result.Error.Error()
			}
			if at == 0 && result.EvalResult.Value() != true {
				return nil, ""
			}
		}
	}
	warnings := []string{}
	for at, result := range results[1] {
		if result.EvalResult.Value() != true {
			warnings = append(warnings, results[2][at].EvalResult.Value().(string))
		}
	}
	return warnings, ""
}

func compile(given *question) (*policy, []string) {
	base := environment.MustBaseEnvSet(version.MustParseGeneric(given.Version))
	options := plugincel.OptionalVariableDeclarations{HasParams: given.Policy.Spec.ParamKind != nil, HasAuthorizer: true}
	compiler, problems := withVariables(given.Policy.Spec.Variables, options, base)
	conditions, wrong := matching(given.Policy.Spec.MatchConditions, options, base)
	problems = append(problems, wrong...)
	made := &policy{compiler: compiler, conditions: conditions, options: options}
	if given.Params != nil {
		made.params = &unstructured.Unstructured{Object: given.Params}
	}
	options.HasPatchTypes = true
	for number, one := range given.Policy.Spec.Mutations {
		evaluator := compiler.CompileMutatingEvaluator(&patch.JSONPatchCondition{Expression: one.JSONPatch.Expression}, options, environment.NewExpressions)
		for _, err := range evaluator.CompilationErrors() {
			problems = append(problems, fmt.Sprintf("mutation %d: %v", number, err))
		}
		made.patchers = append(made.patchers, patch.NewJSONPatcher(evaluator))
	}
	if given.Companion != nil {
		made.companion, wrong = compileCompanion(given, base)
		problems = append(problems, wrong...)
	}
	return made, problems
}

func (p *policy) judge(given *question) answer {
	pod := &corev1.Pod{}
	if err := json.Unmarshal(given.Pod, pod); err != nil {
		return answer{Error: err.Error()}
	}
	kind := corev1.SchemeGroupVersion.WithKind("Pod")
	resource := corev1.SchemeGroupVersion.WithResource("pods")
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: given.Namespace}}
	optional := plugincel.OptionalVariableBindings{VersionedParams: p.params}
	var object runtime.Object = pod
	result := answer{Matches: true}
	attributes := func() *admission.VersionedAttributes {
		record := admission.NewAttributesRecord(object, nil, kind, given.Namespace, pod.Name, resource, "", admission.Create, &metav1.CreateOptions{}, false, nil)
		return &admission.VersionedAttributes{Attributes: record, VersionedKind: kind, VersionedObject: object}
	}
	if given.Normalise {
		result.Pod, _ = json.Marshal(pod)
		return result
	}
	context := p.compiler.CreateContext(context.Background())
	request := plugincel.CreateAdmissionRequest(attributes().Attributes, metav1.GroupVersionResource(resource), metav1.GroupVersionKind(kind))
	for _, name := range given.Show {
		accessor := &variable{"", "variables." + name}
		evaluator := p.compiler.CompileMutatingEvaluator(accessor, p.options, environment.NewExpressions)
		shown, _, err := evaluator.ForInput(context, attributes(), request, optional, namespace, celconfig.RuntimeCELCostBudget)
		if result.Shown == nil {
			result.Shown = map[string]any{}
		}
		if err != nil {
			result.Shown[name] = err.Error()
		} else if shown.Error != nil {
			result.Shown[name] = shown.Error.Error()
		} else {
			result.Shown[name] = plain(shown.EvalResult)
		}
	}
	met, _, err := p.conditions.ForInput(context, attributes(), request, optional, namespace, celconfig.RuntimeCELCostBudgetMatchConditions)
	if err != nil {
		return answer{Error: err.Error()}
	}
	for _, one := range met {
		if one.Error != nil {
			result.Error = one.Error.Error()
			result.Matches = false
		} else if one.EvalResult.Value() != true {
			result.Matches = false
		}
	}
	for _, patcher := range p.patchers {
		if !result.Matches {
			break
		}
		patched, err := patcher.Patch(context, patch.Request{
			MatchedResource: resource, VersionedAttributes: attributes(), Namespace: namespace, OptionalVariables: optional,
			ObjectInterfaces: admission.NewObjectInterfacesFromScheme(scheme.Scheme),
		}, celconfig.RuntimeCELCostBudget)
		if err != nil {
			result.Error = err.Error()
			continue
		}
		object = patched
	}
	result.Pod, err = json.Marshal(object)
	if err != nil {
		return answer{Error: err.Error()}
	}
	if p.companion != nil && result.Error == "" {
		// By then the API server has given it these (rest.BeforeCreate).
		stored := object.(*corev1.Pod).DeepCopy()
		stored.CreationTimestamp = metav1.Now()
		if stored.Name == "" {
			stored.Name = stored.GenerateName + "x7k2p"
		}
		object = stored
		result.Warnings, result.Error = p.companion.warnings(attributes, request, namespace)
	}
	return result
}

func plain(value ref.Val) any {
	native, err := value.ConvertToNative(reflect.TypeOf(&structpb.Value{}))
	if err != nil {
		return err.Error()
	}
	return native.(*structpb.Value).AsInterface()
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 64<<20)
	out := json.NewEncoder(os.Stdout)
	var current *policy
	for lines.Scan() {
		given := question{}
		result := answer{}
		if err := json.Unmarshal(lines.Bytes(), &given); err != nil {
			result.Error = err.Error()
		} else if given.Policy != nil {
			current, result.Errors = compile(&given)
		} else {
			result = current.judge(&given)
		}
		if err := out.Encode(result); err != nil {
			panic(err)
		}
	}
}
