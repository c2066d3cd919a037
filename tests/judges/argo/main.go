// Judge says what is wrong with WorkflowTemplates, by the code of `argo lint --offline`.
//
//	stdin     a YAML stream of WorkflowTemplates
//	stdout    {"templates": 1, "error": ""} or {"templates": .., "error": "what is wrong"}
//
// cmd/argo cannot be installed with `go install`: its go.mod has a replace directive, and the server that comes with it
// is large. This calls the same decoder (strict) and the same validation.
package main

import (
	"encoding/json"
	"io"
	"log"
	"os"

	"github.com/argoproj/argo-workflows/v3/workflow/common"
	"github.com/argoproj/argo-workflows/v3/workflow/validate"
)

type answer struct {
	Templates int    `json:"templates"`
	Error     string `json:"error"`
}

func main() {
	data, err := io.ReadAll(os.Stdin)
	if err != nil {
		log.Fatal(err)
	}
	if err := json.NewEncoder(os.Stdout).Encode(judged(data)); err != nil {
		log.Fatal(err)
	}
}

func judged(data []byte) answer {
	templates, err := common.SplitWorkflowTemplateYAMLFile(data, true)
	if err != nil {
		return answer{Error: err.Error()}
	}
	for i := range templates {
		options := validate.ValidateOpts{Lint: true}
		// nil: no template refers to another one.
		if err := validate.ValidateWorkflowTemplate(nil, nil, &templates[i], options); err != nil {
			return answer{len(templates), err.Error()}
		}
	}
	return answer{Templates: len(templates)}
}
