// The judge of generated CEL: the API server's own compiler, evaluator and patcher (k8s.io/apiserver), without a server.
//
// One line of JSON for each line of JSON:
//
//	{"policy": {..}, "params": {..}, "version": "1.33"}   compiles a MutatingAdmissionPolicy as that version would check a
//	                                                       new one; answers {"errors": [..]}
//	{"pod": {..}, "namespace": "shop"}                     the pod as the policy leaves it, {"pod": {..}} with "cost", the
//	                                                       number of "mutations", and the "error" that was ignored, if any
//	{"pod": .., "show": ["known"]}                         the values of these variables too, as {"shown": {..}}
//	{"pod": .., "normalise": true}                         the pod as Kubernetes' types write it, whatever the policy says
//	{"read": "[JSONPatch{..}]", "made": ["a"]}             what is wrong with the syntax tree of a mutation (`values.go`)
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
	Policy    *admissionregistration.MutatingAdmissionPolicy `json:"policy"`
	Params    map[string]any                                 `json:"params"`
	Version   string                                         `json:"version"`
	Pod       json.RawMessage                                `json:"pod"`
	Namespace string                                         `json:"namespace"`
	Show      []string                                       `json:"show"`
	Normalise bool                                           `json:"normalise"`
	Read      *string                                        `json:"read"`
	Made      []string                                       `json:"made"`
}

type answer struct {
	Errors    []string        `json:"errors"`
	Pod       json.RawMessage `json:"pod,omitempty"`
	Error     string          `json:"error,omitempty"`
	Matches   bool            `json:"matches"`
	Cost      int64           `json:"cost"`
	Shown     map[string]any  `json:"shown,omitempty"`
	CodePoint int             `json:"code_points"`
}

type variable struct{ name, expression string }

func (v *variable) GetName() string            { return v.name }
func (v *variable) GetExpression() string      { return v.expression }
func (v *variable) ReturnTypes() []*celgo.Type { return []*celgo.Type{celgo.AnyType, celgo.DynType} }

type condition struct{ expression string }

func (c *condition) GetExpression() string      { return c.expression }
func (c *condition) ReturnTypes() []*celgo.Type { return []*celgo.Type{celgo.BoolType} }

type policy struct {
	compiler   *plugincel.CompositedCompiler
	conditions plugincel.ConditionEvaluator
	evaluators []plugincel.MutatingEvaluator
	patchers   []patch.Patcher
	params     runtime.Object
	options    plugincel.OptionalVariableDeclarations
}

func compile(given *question) (*policy, []string) {
	parsed, err := version.ParseGeneric(given.Version)
	if err != nil {
		return nil, []string{err.Error()}
	}
	compiler, err := plugincel.NewCompositedCompiler(environment.MustBaseEnvSet(parsed))
	if err != nil {
		return nil, []string{err.Error()}
	}
	made := &policy{compiler: compiler}
	made.options = plugincel.OptionalVariableDeclarations{HasParams: given.Policy.Spec.ParamKind != nil, HasAuthorizer: true}
	if given.Params != nil {
		made.params = &unstructured.Unstructured{Object: given.Params}
	}
	problems := []string{}
	for _, one := range given.Policy.Spec.Variables {
		result := compiler.CompileAndStoreVariable(&variable{one.Name, one.Expression}, made.options, environment.NewExpressions)
		if result.Error != nil {
			problems = append(problems, fmt.Sprintf("variable %s: %v", one.Name, result.Error))
		}
	}
	conditions := []plugincel.ExpressionAccessor{}
	for _, one := range given.Policy.Spec.MatchConditions {
		accessor := &condition{one.Expression}
		conditions = append(conditions, accessor)
		// Without variables: the API server checks match conditions so.
		result := plugincel.NewCompiler(environment.MustBaseEnvSet(parsed)).CompileCELExpression(accessor, made.options, environment.NewExpressions)
		if result.Error != nil {
			problems = append(problems, fmt.Sprintf("matchCondition %s: %v", one.Name, result.Error))
		}
	}
	made.conditions = compiler.CompileCondition(conditions, made.options, environment.NewExpressions)
	withPatches := made.options
	withPatches.HasPatchTypes = true
	for number, one := range given.Policy.Spec.Mutations {
		accessor := &patch.JSONPatchCondition{Expression: one.JSONPatch.Expression}
		evaluator := compiler.CompileMutatingEvaluator(accessor, withPatches, environment.NewExpressions)
		for _, err := range evaluator.CompilationErrors() {
			problems = append(problems, fmt.Sprintf("mutation %d: %v", number, err))
		}
		made.evaluators = append(made.evaluators, evaluator)
		made.patchers = append(made.patchers, patch.NewJSONPatcher(evaluator))
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
	for number, patcher := range p.patchers {
		if !result.Matches {
			break
		}
		// Measured apart: a patcher does not say what it cost.
		_, left, err := p.evaluators[number].ForInput(context, attributes(), request, optional, namespace, celconfig.RuntimeCELCostBudget)
		if err == nil {
			result.Cost += celconfig.RuntimeCELCostBudget - left
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
		} else if given.Read != nil {
			result.Errors, result.CodePoint = read(*given.Read, given.Made)
		} else {
			result = current.judge(&given)
		}
		if err := out.Encode(result); err != nil {
			panic(err)
		}
	}
}
