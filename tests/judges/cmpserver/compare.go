package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/argoproj/argo-cd/gitops-engine/pkg/diff"
	"github.com/argoproj/argo-cd/v3/common"
	"github.com/argoproj/argo-cd/v3/pkg/apis/application/v1alpha1"
	argodiff "github.com/argoproj/argo-cd/v3/util/argo/diff"
	"github.com/argoproj/argo-cd/v3/util/argo/normalizers"
	"github.com/argoproj/argo-cd/v3/util/kube"
	log "github.com/sirupsen/logrus"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
)

// What the application controller is told: objects as the source renders them, objects as the cluster has them (for
// compare, in the same order), and what an Application or argocd-cm sets.
type application struct {
	Kubeconfig             string                               `json:"kubeconfig"`
	Targets                []*unstructured.Unstructured         `json:"targets"`
	Lives                  []*unstructured.Unstructured         `json:"lives"`
	ServerSideApply        bool                                 `json:"serverSideApply"`
	ServerSideDiff         bool                                 `json:"serverSideDiff"`
	IncludeMutationWebhook bool                                 `json:"includeMutationWebhook"`
	IgnoreDifferences      []v1alpha1.ResourceIgnoreDifferences `json:"ignoreDifferences"`
}

// What it says of each object: live and predicted where they differ, or why it could not say.
type judged struct {
	Modified  bool            `json:"modified"`
	Live      json.RawMessage `json:"live,omitempty"`
	Predicted json.RawMessage `json:"predicted,omitempty"`
	Error     string          `json:"error,omitempty"`
}

func judge(method string) error {
	log.SetOutput(io.Discard)
	var app application
	if err := json.NewDecoder(os.Stdin).Decode(&app); err != nil {
		return err
	}
	config, err := clientcmd.BuildConfigFromFlags("", app.Kubeconfig)
	if err != nil {
		return err
	}
	config.QPS, config.Burst = 1000, 1000
	each := app.sync
	if method == "compare" {
		each = app.compare
	}
	found, err := each(config)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(found)
}

// sync is applyObject of gitops-engine, pkg/sync/sync_context.go.
func (app application) sync(config *rest.Config) ([]judged, error) {
	operations, cleanup, err := kube.NewKubectl().ManageResources(config)
	if err != nil {
		return nil, err
	}
	defer cleanup()
	found := []judged{}
	for _, target := range app.Targets {
		_, err := operations.ApplyResource(context.Background(), target, cmdutil.DryRunNone, false, true,
			app.ServerSideApply, common.ArgoCDSSAManager)
		found = append(found, judged{Error: text(err)})
	}
	return found, nil
}

// compare is CompareAppState of Argo CD, controller/state.go.
func (app application) compare(config *rest.Config) ([]judged, error) {
	if len(app.Targets) != len(app.Lives) {
		return nil, errors.New("as many targets as lives are needed")
	}
	_, parser, err := kube.NewKubectl().LoadOpenAPISchema(config)
	if err != nil {
		return nil, err
	}
	builder := argodiff.NewDiffConfigBuilder().
		WithDiffSettings(app.IgnoreDifferences, nil, false, normalizers.IgnoreNormalizerOpts{}).
		WithTracking(common.LabelKeyAppInstance, string(v1alpha1.TrackingMethodAnnotation)).
		WithNoCache().
		WithIgnoreMutationWebhook(!app.IncludeMutationWebhook).
		WithGVKParser(parser).
		WithManager(common.ArgoCDSSAManager).
		WithServerSideDiff(app.ServerSideDiff).
		WithStructuredMergeDiff(app.ServerSideApply)
	if app.ServerSideDiff {
		applier, cleanup, err := kube.ManageServerSideDiffDryRuns(config, nil)
		if err != nil {
			return nil, err
		}
		defer cleanup()
		builder.WithServerSideDryRunner(diff.NewK8sServerSideDryRunner(applier))
	}
	settings, err := builder.Build()
	if err != nil {
		return nil, err
	}
	found := []judged{}
	for index, target := range app.Targets {
		result, err := argodiff.StateDiff(app.Lives[index], target, settings)
		one := judged{Modified: result.Modified, Error: text(err)}
		if one.Modified {
			one.Live, one.Predicted = result.NormalizedLive, result.PredictedLive
		}
		found = append(found, one)
	}
	return found, nil
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return fmt.Sprint(err)
}
