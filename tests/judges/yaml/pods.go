package main

// Pods: the images of the pod specs that an object or a list holds, by its kind.

import "strings"

type pod struct {
	Kind   string   `json:"kind"`
	Images []string `json:"images"`
}

// Where the kinds of Kubernetes and some custom resources hold a pod spec; "*" is every item or member.
var podSpecs = map[string][]string{
	"/Pod":                    {"spec"},
	"/PodTemplate":            {"template.spec"},
	"/ReplicationController":  {"spec.template.spec"},
	"apps/ReplicaSet":         {"spec.template.spec"},
	"apps/Deployment":         {"spec.template.spec"},
	"apps/StatefulSet":        {"spec.template.spec"},
	"apps/DaemonSet":          {"spec.template.spec"},
	"batch/Job":               {"spec.template.spec"},
	"batch/CronJob":           {"spec.jobTemplate.spec.template.spec"},
	"argoproj.io/Rollout":     {"spec.template.spec"},
	"keda.sh/ScaledJob":       {"spec.jobTargetRef.template.spec"},
	"jobset.x-k8s.io/JobSet":  {"spec.replicatedJobs.*.template.spec.template.spec"},
	"kubeflow.org/PyTorchJob": {"spec.pytorchReplicaSpecs.*.template.spec"},
	"leaderworkerset.x-k8s.io/LeaderWorkerSet": {
		"spec.leaderWorkerTemplate.leaderTemplate.spec", "spec.leaderWorkerTemplate.workerTemplate.spec",
	},
	"batch.volcano.sh/Job":          {"spec.tasks.*.template.spec"},
	"apps.kruise.io/CloneSet":       {"spec.template.spec"},
	"core.strimzi.io/StrimziPodSet": {"spec.pods.*.spec"},
}

// podsIn adds the pods of an object, or of the items of a list, whose images are all written as text.
func podsIn(document any, found []pod) []pod {
	object, is := document.(map[string]any)
	if !is {
		return found
	}
	kind, _ := object["kind"].(string)
	version, _ := object["apiVersion"].(string)
	group := ""
	if at := strings.LastIndexByte(version, '/'); at >= 0 {
		group = version[:at]
	}
	items, isList := object["items"].([]any)
	if isList && (kind == "List" && version == "v1" || kind == "ResourceList" && group == "config.kubernetes.io") {
		for _, item := range items {
			found = podsIn(item, found)
		}
		return found
	}
	for _, path := range podSpecs[group+"/"+kind] {
		for _, spec := range nodesAt(object, strings.Split(path, ".")) {
			if images := imagesOf(spec); len(images) > 0 {
				found = append(found, pod{kind, images})
			}
		}
	}
	return found
}

func nodesAt(node any, path []string) []any {
	if len(path) == 0 {
		return []any{node}
	}
	below := []any{}
	switch holder := node.(type) {
	case map[string]any:
		if path[0] == "*" {
			for _, member := range holder {
				below = append(below, nodesAt(member, path[1:])...)
			}
		} else if member, there := holder[path[0]]; there {
			below = nodesAt(member, path[1:])
		}
	case []any:
		if path[0] == "*" {
			for _, item := range holder {
				below = append(below, nodesAt(item, path[1:])...)
			}
		}
	}
	return below
}

// imagesOf are the images of a pod spec, none where a container or an image is not what the API server takes.
func imagesOf(node any) []string {
	spec, is := node.(map[string]any)
	if !is {
		return nil
	}
	images := []string{}
	for _, name := range []string{"containers", "initContainers"} {
		containers, is := spec[name].([]any)
		if !is && spec[name] != nil {
			return nil
		}
		for _, one := range containers {
			container, is := one.(map[string]any)
			if !is {
				return nil
			}
			image, is := container["image"].(string)
			if !is || image == "" {
				return nil
			}
			images = append(images, image)
		}
	}
	return images
}
