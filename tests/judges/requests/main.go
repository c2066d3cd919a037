// Judge counts what pods request, by the code that the scheduler counts with.
//
//	{"pods": [{..}, ..]}                 one JSON line on stdin: v1 Pods
//	{"requests": [{"cpu": {"milli": 100, "value": 1}, ..} | {"error": ".."}, ..]}
//
//	{"quantities": ["1Gi", ..]}          as a Pod would hold them
//	{"parsed": [{"milli": .., "value": 1073741824} | {"error": ".."}, ..]}
//
// It serves until its standard input ends. The options are those of k8s.io/kubernetes v1.36.3,
// pkg/scheduler/framework/types.go, CalculateResource, with the feature gates at their defaults: InPlacePodVerticalScaling,
// PodLevelResources and InPlacePodLevelResourcesVerticalScaling on, DRANodeAllocatableResources off.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	helper "k8s.io/component-helpers/resource"
)

type question struct {
	Pods       []json.RawMessage `json:"pods"`
	Quantities []string          `json:"quantities"`
}

type amount struct {
	Milli int64 `json:"milli"`
	Value int64 `json:"value"`
}

type failure struct {
	Error string `json:"error"`
}

type answer struct {
	Requests []any `json:"requests,omitempty"`
	Parsed   []any `json:"parsed,omitempty"`
}

func of(quantity resource.Quantity) amount {
	return amount{quantity.MilliValue(), quantity.Value()}
}

func requests(text []byte) any {
	var pod v1.Pod
	if err := json.Unmarshal(text, &pod); err != nil {
		return failure{err.Error()}
	}
	found := map[string]amount{}
	for name, quantity := range helper.PodRequests(&pod, helper.PodResourcesOptions{
		UseStatusResources: true,
		InPlacePodLevelResourcesVerticalScalingEnabled: true,
	}) {
		found[string(name)] = of(quantity)
	}
	return found
}

func parsed(text string) any {
	quantity, err := resource.ParseQuantity(text)
	if err != nil {
		return failure{err.Error()}
	}
	return of(quantity)
}

func main() {
	input := bufio.NewReaderSize(os.Stdin, 1<<20)
	output := json.NewEncoder(os.Stdout)
	for {
		line, err := input.ReadBytes('\n')
		if len(line) > 0 {
			var asked question
			if err := json.Unmarshal(line, &asked); err != nil {
				fmt.Fprintln(os.Stderr, "judge:", err)
				os.Exit(1)
			}
			made := answer{}
			for _, pod := range asked.Pods {
				made.Requests = append(made.Requests, requests(pod))
			}
			for _, text := range asked.Quantities {
				made.Parsed = append(made.Parsed, parsed(text))
			}
			if err := output.Encode(made); err != nil {
				os.Exit(1)
			}
		}
		if err != nil {
			return
		}
	}
}
