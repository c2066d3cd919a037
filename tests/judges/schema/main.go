// Schema_judge says what an API server says about objects: custom resources by the schemas of their
// CustomResourceDefinitions, Kubernetes' own kinds by their Go types.
//
//	request   {"crds": ["/path/of/a.yaml", ..]}     reads definitions; several documents in a file are several
//	answer    {"kinds": ["group/version/Kind", ..]}
//	request   {"object": {..}}
//	answer    {"by": "schema" | "types" | "", "errors": ["spec.a: unknown field", ..]}
//
// One JSON line each on stdin and stdout, until stdin ends. "by" is empty for a kind that nothing is known about. What
// k8s.io/apiextensions-apiserver would prune is an error here, as with `kubectl --validate=strict`; defaults are not
// filled in, and rules in CEL are not run.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"runtime"
	"slices"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
)

type request struct {
	CRDs   []string       `json:"crds"`
	Object map[string]any `json:"object"`
}

type answer struct {
	Kinds  []string `json:"kinds,omitempty"`
	By     string   `json:"by"`
	Errors []string `json:"errors"`
}

// definition is one version of a kind, in the two forms that an API server keeps.
type definition struct {
	structural *schema.Structural
	validator  validation.SchemaValidator
}

var definitions = map[string]definition{}

func strictDecoder() apiruntime.Decoder {
	scheme := apiruntime.NewScheme()
	for _, add := range []func(*apiruntime.Scheme) error{corev1.AddToScheme, appsv1.AddToScheme, batchv1.AddToScheme} {
		if err := add(scheme); err != nil {
			panic(err)
		}
	}
	return serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer()
}

var types = strictDecoder()

// loadAll reads the files side by side: YAML of this size takes most of the time. Kinds are in the order of the files.
func loadAll(paths []string) ([]string, error) {
	found := make([]map[string]definition, len(paths))
	failures := make([]error, len(paths))
	var running sync.WaitGroup
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	for index, path := range paths {
		running.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			found[index], failures[index] = load(path)
		})
	}
	running.Wait()
	var kinds []string
	for _, made := range found {
		kinds = append(kinds, slices.Sorted(maps.Keys(made))...)
		maps.Copy(definitions, made)
	}
	return kinds, errors.Join(failures...)
}

// load reads every CustomResourceDefinition of a file.
func load(path string) (map[string]definition, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	kinds := map[string]definition{}
	decoder := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(content), 4096)
	for {
		var crd apiextensionsv1.CustomResourceDefinition
		err := decoder.Decode(&crd)
		if errors.Is(err, io.EOF) {
			return kinds, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if crd.Kind != "CustomResourceDefinition" {
			continue
		}
		for _, version := range crd.Spec.Versions {
			if !version.Served {
				continue
			}
			made, err := define(version)
			if err != nil {
				return nil, fmt.Errorf("%s: %s %s: %w", path, crd.Spec.Names.Kind, version.Name, err)
			}
			kinds[crd.Spec.Group+"/"+version.Name+"/"+crd.Spec.Names.Kind] = made
		}
	}
}

func define(version apiextensionsv1.CustomResourceDefinitionVersion) (definition, error) {
	if version.Schema == nil {
		return definition{}, errors.New("no schema")
	}
	var internal apiextensions.JSONSchemaProps
	properties := version.Schema.OpenAPIV3Schema
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(properties, &internal, nil); err != nil {
		return definition{}, err
	}
	structural, err := schema.NewStructural(&internal)
	if err != nil {
		return definition{}, err
	}
	// The rules for schemas themselves are not enforced: Argo Workflows publishes full ones that break a few.
	validator, _, err := validation.NewSchemaValidator(&internal)
	return definition{structural, validator}, err
}

func judge(object map[string]any) answer {
	apiVersion, _ := object["apiVersion"].(string)
	kind, _ := object["kind"].(string)
	if known, found := definitions[apiVersion+"/"+kind]; found {
		return answer{By: "schema", Errors: bySchema(known, object)}
	}
	content, err := json.Marshal(object)
	if err != nil {
		return answer{By: "types", Errors: []string{err.Error()}}
	}
	_, _, err = types.Decode(content, nil, nil)
	if apiruntime.IsNotRegisteredError(err) || apiruntime.IsMissingKind(err) || apiruntime.IsMissingVersion(err) {
		return answer{}
	}
	if err != nil {
		return answer{By: "types", Errors: []string{err.Error()}}
	}
	return answer{By: "types"}
}

func bySchema(known definition, object map[string]any) []string {
	var found []string
	for _, fault := range validation.ValidateCustomResource(nil, object, known.validator) {
		found = append(found, fault.Error())
	}
	for _, fault := range listtype.ValidateListSetsAndMaps(nil, known.structural, object) {
		found = append(found, fault.Error())
	}
	options := schema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true}
	for _, path := range pruning.PruneWithOptions(object, known.structural, true, options) {
		found = append(found, path+": unknown field")
	}
	slices.Sort(found)
	return found
}

func answered(line []byte) (result answer) {
	defer func() {
		if failure := recover(); failure != nil {
			result = answer{Errors: []string{fmt.Sprintf("schema_judge: panic: %v", failure)}}
		}
		if result.Errors == nil {
			result.Errors = []string{}
		}
	}()
	var asked request
	// Integers stay integers, as in an API server.
	if err := utilyaml.Unmarshal(line, &asked); err != nil {
		return answer{Errors: []string{"schema_judge: " + err.Error()}}
	}
	if asked.Object != nil {
		return judge(asked.Object)
	}
	kinds, err := loadAll(asked.CRDs)
	if err != nil {
		return answer{Errors: []string{"schema_judge: " + err.Error()}}
	}
	return answer{Kinds: kinds}
}

func main() {
	input := bufio.NewReaderSize(os.Stdin, 1<<20)
	encoder := json.NewEncoder(os.Stdout)
	for {
		line, err := input.ReadBytes('\n')
		if len(line) > 0 {
			if failure := encoder.Encode(answered(line)); failure != nil {
				os.Exit(1)
			}
		}
		if err != nil {
			return
		}
	}
}
