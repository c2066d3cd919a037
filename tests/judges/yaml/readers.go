package main

// Readers: the objects that those who create objects find in a stream, each by the code that its program calls.
//
//	{"streams": ["<base64>", ..]}
//	{"read": [{"objects": [{"apiVersion": "v1", "kind": "Pod", "name": "a", "pods": true, "images": ["nginx"]}, ..],
//	           "kubectl": {"objects": [0], "refused": "..."}, "helm3": {..}, ..}, ..]}
//
//	kubectl    apply -f -: k8s.io/cli-runtime's builder, from its standard input; objects before and beside an error
//	           are created all the same
//	helm3      v3.22.0 pkg/kube.Client.Build on a post-renderer's output
//	helm4      v4.3.1 pkg/action.splitAndDeannotate, pkg/release/v1/util.SortManifests, and pkg/kube.Client.Build on the
//	           manifests together and on each hook
//	kustomize  v5.8.1: api/resource.Factory.SliceFromBytes, as a file of `resources` is read
//	krm        kyaml's kio.ByteReader, as callers of functions read what a function writes (fn/runtime/runtimeutil)
//
// objects: those of all readers, each once; a reader names them by number, as often as it finds them. Without a server
// every kind is taken. images: of the pod spec of one of Kubernetes' own kinds; of any other kind, of each list of
// containers. pods: whether there is a container at all. own: it is one of Kubernetes' own kinds.

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sort"
	"strings"

	"golang.org/x/sys/unix"
	"helm.sh/helm/v4/pkg/release/v1/util"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/resource"
	"sigs.k8s.io/kustomize/api/provider"
	"sigs.k8s.io/kustomize/kyaml/kio"
	"sigs.k8s.io/kustomize/kyaml/yaml"
)

type readings map[string]any

type reading struct {
	Objects []int  `json:"objects"`
	Refused string `json:"refused,omitempty"`
}

type object struct {
	APIVersion string   `json:"apiVersion"`
	Kind       string   `json:"kind"`
	Namespace  string   `json:"namespace,omitempty"`
	Name       string   `json:"name,omitempty"`
	Own        bool     `json:"own,omitempty"`
	Pods       bool     `json:"pods,omitempty"`
	Skipped    bool     `json:"skipped,omitempty"`
	Images     []string `json:"images,omitempty"`
}

type manifests = []map[string]any

var creators = []struct {
	name      string
	read      func([]byte) (manifests, error)
	recursive bool // follows an alias inside of its own anchor until the stack is full
}{
	{"kubectl", applied, false},
	{"helm3", built, false},
	{"helm4", postRendered, true},
	{"kustomize", accumulated, true},
	{"krm", returned, true},
}

var standardInput = memoryFile()

func memoryFile() *os.File {
	number, err := unix.MemfdCreate("stdin", unix.MFD_CLOEXEC)
	if err != nil {
		panic(err)
	}
	return os.NewFile(uintptr(number), "stdin")
}

func readAll(text []byte) readings {
	made := readings{}
	numbers, objects := map[string]int{}, []json.RawMessage{}
	endless := holdsItself(text)
	for _, creator := range creators {
		one := reading{Objects: []int{}}
		if endless && creator.recursive {
			one.Refused = "an alias stands inside of its own anchor"
			made[creator.name] = one
			continue
		}
		found, err := guarded(creator.read, text)
		for _, manifest := range found {
			described, failure := json.Marshal(describe(manifest))
			if failure != nil {
				panic(failure)
			}
			number, known := numbers[string(described)]
			if !known {
				number = len(objects)
				numbers[string(described)] = number
				objects = append(objects, described)
			}
			one.Objects = append(one.Objects, number)
		}
		if err != nil {
			one.Refused = err.Error()
			if len(one.Refused) > 300 {
				one.Refused = strings.ToValidUTF8(one.Refused[:300], "")
			}
			if one.Refused == "" {
				one.Refused = fmt.Sprintf("%T", err)
			}
		}
		made[creator.name] = one
	}
	made["objects"] = objects
	return made
}

// guarded turns a reader's panic into its error.
func guarded(read func([]byte) (manifests, error), text []byte) (found manifests, err error) {
	defer func() {
		if failure := recover(); failure != nil {
			err = fmt.Errorf("panic: %v", failure)
		}
	}()
	return read(text)
}

func applied(text []byte) (manifests, error) {
	if err := standardInput.Truncate(0); err != nil {
		panic(err)
	}
	if _, err := standardInput.WriteAt(text, 0); err != nil {
		panic(err)
	}
	if _, err := standardInput.Seek(0, io.SeekStart); err != nil {
		panic(err)
	}
	kept := os.Stdin
	os.Stdin = standardInput
	defer func() { os.Stdin = kept }()
	infos, err := resource.NewLocalBuilder().
		Unstructured().
		ContinueOnError().
		NamespaceParam("default").
		DefaultNamespace().
		FilenameParam(false, &resource.FilenameOptions{Filenames: []string{"-"}}).
		Flatten().
		Do().
		Infos()
	return contents(infos), err
}

func built(text []byte) (manifests, error) {
	infos, err := resource.NewLocalBuilder().
		ContinueOnError().
		NamespaceParam("default").
		DefaultNamespace().
		Flatten().
		Unstructured().
		Stream(bytes.NewReader(text), "").
		Do().
		Infos()
	if err != nil {
		return nil, err
	}
	return contents(infos), nil
}

func contents(infos []*resource.Info) manifests {
	found := manifests{}
	for _, info := range infos {
		found = append(found, info.Object.(*unstructured.Unstructured).Object)
	}
	return found
}

func postRendered(text []byte) (manifests, error) {
	const filename = "postrenderer.helm.sh/postrender-filename"
	nodes, err := kio.ParseAll(string(text))
	if err != nil {
		return nil, err
	}
	groups := map[string][]*yaml.RNode{}
	for number, node := range nodes {
		meta, err := node.GetMeta()
		if err != nil {
			return nil, err
		}
		name := meta.Annotations[filename]
		if name == "" {
			name = fmt.Sprintf("generated-by-postrender-%d.yaml", number)
		}
		if err := node.PipeE(yaml.ClearAnnotation(filename)); err != nil {
			return nil, err
		}
		groups[name] = append(groups[name], node)
	}
	files := map[string]string{}
	for name, group := range groups {
		written, err := kio.StringAll(group)
		if err != nil {
			return nil, err
		}
		files[name] = written
	}
	hooks, sorted, err := util.SortManifests(files, nil, util.InstallOrder)
	if err != nil {
		return nil, err
	}
	together := &bytes.Buffer{}
	for _, manifest := range sorted {
		fmt.Fprintf(together, "---\n# Source: %s\n%s\n", manifest.Name, manifest.Content)
	}
	found, err := built(together.Bytes())
	for _, hook := range hooks {
		if err == nil {
			var more manifests
			more, err = built([]byte(hook.Manifest))
			found = append(found, more...)
		}
	}
	return found, err
}

var factory = provider.NewDefaultDepProvider().GetResourceFactory()

func accumulated(text []byte) (manifests, error) {
	resources, err := factory.SliceFromBytes(text)
	if err != nil {
		return nil, err
	}
	found := manifests{}
	for _, one := range resources {
		manifest, err := one.Map()
		if err != nil {
			return nil, err
		}
		found = append(found, manifest)
	}
	return found, nil
}

func returned(text []byte) (manifests, error) {
	nodes, err := (&kio.ByteReader{Reader: bytes.NewReader(text)}).Read()
	if err != nil {
		return nil, err
	}
	found := manifests{}
	for _, node := range nodes {
		if yaml.IsMissingOrNull(node) {
			continue
		}
		if node.YNode().Kind != yaml.MappingNode {
			return nil, errors.New("an item is no mapping")
		}
		manifest, err := node.Map()
		if err != nil {
			return nil, err
		}
		found = append(found, manifest)
	}
	return found, nil
}

func describe(manifest map[string]any) object {
	one := unstructured.Unstructured{Object: manifest}
	made := object{
		APIVersion: one.GetAPIVersion(), Kind: one.GetKind(), Namespace: one.GetNamespace(), Name: one.GetName(),
	}
	if skip, is, _ := unstructured.NestedFieldNoCopy(manifest, "metadata", "annotations", "archfit.dev/skip"); is {
		made.Skipped = fmt.Sprint(skip) == "true"
	}
	group := ""
	if at := strings.LastIndexByte(made.APIVersion, '/'); at >= 0 {
		group = made.APIVersion[:at]
	}
	if paths, known := podSpecs[group+"/"+made.Kind]; known && ownGroups[group] {
		made.Own = true
		for _, spec := range nodesAt(manifest, strings.Split(paths[0], ".")) {
			made.containers(spec)
		}
	} else if _, listed := manifest["items"]; !listed || !strings.HasSuffix(made.Kind, "List") {
		for key, member := range manifest {
			// A reader that leaves a list closed leaves its items to those who open it; a mark of the byte order
			// behind a separator is part of the key for some.
			switch strings.TrimPrefix(key, "\ufeff") {
			case "metadata", "status", "items":
			default:
				made.anywhere(member)
			}
		}
	}
	sort.Strings(made.Images)
	return made
}

var ownGroups = map[string]bool{"": true, "apps": true, "batch": true}

// containers adds those of a pod spec; values that no API server takes are none.
func (made *object) containers(node any) {
	spec, _ := node.(map[string]any)
	for _, field := range []string{"containers", "initContainers", "volumes"} {
		list, _ := spec[field].([]any)
		for _, item := range list {
			member, is := item.(map[string]any)
			if !is {
				continue
			}
			image, at := member, "image"
			if field == "volumes" {
				image, _ = member["image"].(map[string]any)
				at = "reference"
			} else {
				made.Pods = true
			}
			if text, is := image[at].(string); is && text != "" {
				made.Images = append(made.Images, text)
			}
		}
	}
}

// anywhere adds the containers below a node.
func (made *object) anywhere(node any) {
	switch holder := node.(type) {
	case map[string]any:
		if _, is := holder["containers"].([]any); is {
			made.containers(holder)
		}
		for _, member := range holder {
			made.anywhere(member)
		}
	case []any:
		for _, item := range holder {
			made.anywhere(item)
		}
	}
}
