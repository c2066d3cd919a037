// Judge decodes streams with the readers that count: kubectl's, kustomize's and Helm 4's own code.
//
//	request   {"reader": "kubectl" | "kustomize" | "helm4", "text": "<base64>"}      one JSON line on stdin
//	answer    {"documents": [...]}  or  {"documents": [...], "error": "..."}          one JSON line on stdout
//	          {"compare": [...]}    is answered by {"compared": [...]}, see compare.go
//	          {"streams": [...]}    is answered by {"read": [...]}, see readers.go
//
// It serves until its standard input ends. The documents before an error are those that the reader had handed out by
// then: kubectl applies them before it stops, kustomize and Helm hand out nothing at all.
//
//	kubectl    k8s.io/apimachinery YAMLOrJSONDecoder over the whole stream, empty documents and nulls left out, as
//	           k8s.io/cli-runtime's StreamVisitor does
//	kustomize  kyaml's ByteReader, anchors and merge keys written out (kio.FromBytes), then RNode.MarshalJSON, which is
//	           what `kustomize build` prints; a lone List is not taken apart, so documents keep their numbers
//	helm4      kio.ParseAll, kio.StringAll and sigs.k8s.io/yaml, as Helm 4 treats a post-renderer's output
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"syscall"

	k8syaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/kustomize/kyaml/kio"
	"sigs.k8s.io/yaml"
)

type request struct {
	Reader  string     `json:"reader"`
	Text    []byte     `json:"text"`
	Compare []question `json:"compare"`
	Streams [][]byte   `json:"streams"`
}

type answer struct {
	Documents []json.RawMessage `json:"documents"`
	Error     string            `json:"error,omitempty"`
	Compared  []comparison      `json:"compared,omitempty"`
	Read      []readings        `json:"read,omitempty"`
}

var readers = map[string]func([]byte) ([]json.RawMessage, error){
	"kubectl":   kubectl,
	"kustomize": kustomize,
	"helm4":     helm4,
}

func kubectl(text []byte) ([]json.RawMessage, error) {
	documents := []json.RawMessage{}
	decoder := k8syaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096)
	for {
		var raw json.RawMessage
		err := decoder.Decode(&raw)
		if errors.Is(err, io.EOF) {
			return documents, nil
		}
		if err != nil {
			return documents, err
		}
		raw = bytes.TrimSpace(raw)
		if len(raw) == 0 || bytes.Equal(raw, []byte("null")) {
			continue
		}
		documents = append(documents, raw)
	}
}

func kustomize(text []byte) ([]json.RawMessage, error) {
	nodes, err := (&kio.ByteReader{
		Reader:                bytes.NewReader(text),
		OmitReaderAnnotations: true,
		AnchorsAweigh:         true,
		DisableUnwrapping:     true,
	}).Read()
	if err != nil {
		return nil, err
	}
	documents := []json.RawMessage{}
	for _, node := range nodes {
		document, err := node.MarshalJSON()
		if err != nil {
			return nil, err
		}
		documents = append(documents, document)
	}
	return documents, nil
}

func helm4(text []byte) ([]json.RawMessage, error) {
	nodes, err := kio.ParseAll(string(text))
	if err != nil {
		return nil, err
	}
	documents := []json.RawMessage{}
	for _, node := range nodes {
		written, err := kio.StringAll(kio.ResourceNodeSlice{node})
		if err != nil {
			return nil, err
		}
		document, err := yaml.YAMLToJSON([]byte(written))
		if err != nil {
			return nil, err
		}
		documents = append(documents, document)
	}
	return documents, nil
}

// judge turns a reader's panic into its error: some libraries panic on hostile input, and that is an answer too.
func judge(line []byte) (result answer) {
	result.Documents = []json.RawMessage{}
	defer func() {
		if failure := recover(); failure != nil {
			result.Error = fmt.Sprintf("panic: %v", failure)
		}
	}()
	var asked request
	if err := json.Unmarshal(line, &asked); err != nil {
		result.Error = "judge: " + err.Error()
		return result
	}
	for _, one := range asked.Compare {
		result.Compared = append(result.Compared, compare(one))
	}
	for _, text := range asked.Streams {
		result.Read = append(result.Read, readAll(text))
	}
	if asked.Compare != nil || asked.Streams != nil {
		return result
	}
	reader, known := readers[asked.Reader]
	if !known {
		result.Error = fmt.Sprintf("judge: no reader %q", asked.Reader)
		return result
	}
	documents, err := reader(asked.Text)
	if documents != nil {
		result.Documents = documents
	}
	if err != nil {
		result.Error = err.Error()
		if result.Error == "" {
			result.Error = fmt.Sprintf("%T", err)
		}
	}
	return result
}

func main() {
	// An alias to itself sends kyaml into endless recursion; the default limit of 1 GB takes seconds to fill.
	debug.SetMaxStack(256 << 20)
	// kyaml writes an alias bomb out in full; it shall end this process, not the machine.
	_ = syscall.Setrlimit(syscall.RLIMIT_AS, &syscall.Rlimit{Cur: 3 << 30, Max: 3 << 30})
	input := bufio.NewReaderSize(os.Stdin, 1<<20)
	output := bufio.NewWriterSize(os.Stdout, 1<<20)
	encoder := json.NewEncoder(output)
	encoder.SetEscapeHTML(false)
	for {
		line, err := input.ReadBytes('\n')
		if len(line) > 0 {
			if failure := encoder.Encode(judge(line)); failure != nil {
				fmt.Fprintln(os.Stderr, "judge:", failure)
				os.Exit(1)
			}
			if failure := output.Flush(); failure != nil {
				os.Exit(1)
			}
		}
		if err != nil {
			return
		}
	}
}
