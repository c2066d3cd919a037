package main

// Comparisons: whether an edited stream says what a patch says, by the readers of kubectl and kustomize, many at once.
//
//	{"compare": [{"before": "<base64>", "after": "<base64>" | null, "both": true, "documents": 2, "patch":
//	    [{"document": 0, "op": "add" | "remove", "path": ["spec", "containers", 0], "value": ..}]}, ..]}
//	{"compared": [{"kubectl": {..}, "kustomize": {..}, "pods": [{"kind": "Pod", "images": ["nginx"]}]}, ..]}
//
//	verdict   {"refused": "..."}        the reader does not take the input
//	          {"documents": 2}          it does; there is no output to compare, or it is right
//	          {"documents": 2, "counted": 3}         the patch counts the documents otherwise: nothing was compared
//	          {"documents": 2, "difference": "..."}  document, path, and both values
//	disagree  where kubectl and kustomize read the input differently, if kustomize's verdict is a difference
//
// A document that is no mapping is refused: nothing but an object can be applied. Documents that hold nothing (null, for kustomize {} also) are left out and not counted. Numbers are compared as they
// are written, so that 1 is not 1.0. In a ResourceList, `results` may grow. pods: those of kubectl's documents.
// Without an output, kustomize is asked only if `both` says so and kubectl takes the input.

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sort"

	"sigs.k8s.io/kustomize/kyaml/yaml"
)

type reader func([]byte) ([]json.RawMessage, error)

type question struct {
	Both      bool    `json:"both"`
	Before    []byte  `json:"before"`
	After     *[]byte `json:"after"`
	Documents int     `json:"documents"`
	Patch     []step  `json:"patch"`
}

type comparison struct {
	Kubectl   verdict `json:"kubectl"`
	Kustomize verdict `json:"kustomize"`
	Disagree  string  `json:"disagree,omitempty"`
	Pods      []pod   `json:"pods"`
}

type verdict struct {
	Refused    string `json:"refused,omitempty"`
	Documents  int    `json:"documents"`
	Counted    *int   `json:"counted,omitempty"`
	Difference string `json:"difference,omitempty"`
}

func compare(asked question) comparison {
	made := comparison{Pods: []pod{}, Kustomize: verdict{Refused: "not asked"}}
	documents, err := values(kubectl, asked.Before)
	for _, document := range documents {
		made.Pods = podsIn(document, made.Pods)
	}
	made.Kubectl = judged(kubectl, asked, documents, err)
	taken := err == nil
	if (asked.Both && taken || asked.After != nil) && !holdsItself(asked.Before) {
		documents, err = values(kustomize, asked.Before)
		made.Kustomize = judged(kustomize, asked, documents, err)
		if made.Kustomize.Difference != "" && taken {
			made.Disagree = disagreement(asked.Before)
		}
	}
	return made
}

// holdsItself says whether an alias stands inside of its own anchor: kyaml follows it until its stack is full.
func holdsItself(text []byte) bool {
	if !bytes.ContainsRune(text, '&') || !bytes.ContainsRune(text, '*') {
		return false
	}
	for _, document := range bytes.Split(text, []byte("\n---")) {
		decoder := yaml.NewDecoder(bytes.NewReader(document))
		for {
			var node yaml.Node
			if decoder.Decode(&node) != nil {
				break
			}
			if isInside(&node, map[*yaml.Node]bool{}) {
				return true
			}
		}
	}
	return false
}

func isInside(node *yaml.Node, open map[*yaml.Node]bool) bool {
	if node.Kind == yaml.AliasNode {
		return open[node.Alias]
	}
	open[node] = true
	defer delete(open, node)
	for _, below := range node.Content {
		if isInside(below, open) {
			return true
		}
	}
	return false
}

// disagreement is where kubectl and kustomize read an input differently, "" if they do not.
func disagreement(text []byte) string {
	one, failure := values(kubectl, text)
	other, failureToo := values(kustomize, text)
	if failure != nil || failureToo != nil || len(one) != len(other) {
		return ""
	}
	for number := range one {
		if at := difference(one[number], other[number], ""); at != "" {
			return fmt.Sprintf("document %d: %s", number+1, at)
		}
	}
	return ""
}

// judged is the verdict of one reader, by what it makes of the input; the documents are patched in place.
func judged(reader reader, asked question, documents []any, err error) verdict {
	if err != nil {
		return verdict{Refused: err.Error()}
	}
	made := verdict{Documents: len(documents)}
	for number, document := range documents {
		if _, is := document.(map[string]any); !is {
			return verdict{Refused: fmt.Sprintf("document %d is no object", number+1)}
		}
	}
	if asked.After == nil {
		return made
	}
	if made.Documents != asked.Documents {
		made.Counted = &asked.Documents
		return made
	}
	for _, one := range asked.Patch {
		if err := patch(documents, one); err != nil {
			made.Difference = fmt.Sprintf("document %d: the patch does not fit: %v", one.Document+1, err)
			return made
		}
	}
	after, err := values(reader, *asked.After)
	if err != nil {
		made.Difference = "the output is refused: " + err.Error()
		return made
	}
	if len(after) != len(documents) {
		made.Difference = fmt.Sprintf("the output has %d documents, the input %d", len(after), len(documents))
		return made
	}
	for number := range documents {
		withoutResults(documents[number], after[number])
		if at := difference(documents[number], after[number], ""); at != "" {
			made.Difference = fmt.Sprintf("document %d: %s", number+1, at)
			return made
		}
	}
	return made
}

// values are the documents that hold something. A reader's panic is its error.
func values(reader reader, text []byte) (made []any, err error) {
	defer func() {
		if failure := recover(); failure != nil {
			err = fmt.Errorf("panic: %v", failure)
		}
	}()
	documents, err := reader(text)
	if err != nil {
		if err.Error() == "" {
			err = fmt.Errorf("%T", err)
		}
		return nil, err
	}
	for _, document := range documents {
		decoder := json.NewDecoder(bytes.NewReader(document))
		decoder.UseNumber()
		var value any
		if err := decoder.Decode(&value); err != nil {
			return nil, err
		}
		if value == nil {
			continue
		}
		if mapping, is := value.(map[string]any); is && len(mapping) == 0 {
			continue
		}
		made = append(made, value)
	}
	return made, nil
}

// withoutResults takes a ResourceList's results out of both, where those of the input begin those of the output.
func withoutResults(expected, after any) {
	one, isMapping := expected.(map[string]any)
	other, isToo := after.(map[string]any)
	if !isMapping || !isToo || one["kind"] != "ResourceList" {
		return
	}
	old, _ := one["results"].([]any)
	now, _ := other["results"].([]any)
	if len(now) >= len(old) && difference(old, now[:len(old)], "") == "" {
		delete(one, "results")
		delete(other, "results")
	}
}

// difference is the first path where the values differ, "" if there is none.
func difference(expected, found any, at string) string {
	switch one := expected.(type) {
	case map[string]any:
		other, is := found.(map[string]any)
		if !is {
			break
		}
		keys := make([]string, 0, len(one)+len(other))
		for key := range one {
			keys = append(keys, key)
		}
		for key := range other {
			if _, known := one[key]; !known {
				keys = append(keys, key)
			}
		}
		sort.Strings(keys)
		for _, key := range keys {
			a, inOne := one[key]
			b, inOther := other[key]
			if !inOther {
				return fmt.Sprintf("%s/%s is gone", at, key)
			}
			if !inOne {
				return fmt.Sprintf("%s/%s is new", at, key)
			}
			if where := difference(a, b, at+"/"+key); where != "" {
				return where
			}
		}
		return ""
	case []any:
		other, is := found.([]any)
		if !is {
			break
		}
		if len(one) != len(other) {
			return fmt.Sprintf("%s has %d items instead of %d", at, len(other), len(one))
		}
		for index := range one {
			if where := difference(one[index], other[index], fmt.Sprintf("%s/%d", at, index)); where != "" {
				return where
			}
		}
		return ""
	default:
		if expected == found {
			return ""
		}
	}
	return fmt.Sprintf("%s: %.60q instead of %.60q", at, shown(found), shown(expected))
}

func shown(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	return string(text)
}
