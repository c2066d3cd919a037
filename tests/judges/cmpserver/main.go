// The two ends of Argo CD's plugin protocol, and how its controller compares and syncs: Argo CD's own code (v3.5.1).
//
//	cmpserver serve --config-dir-path DIR    argocd-cmp-server, as the sidecar starts it
//	cmpserver ask                            what repo-server does with its socket
//	cmpserver compare, cmpserver sync        what the application controller does, see compare.go
//
// ask reads one line of JSON from standard input, {socket, method, repo, app, source, seconds}, and writes one of JSON,
// {manifests | supported | parameters, error}. Another line, or the end of standard input, cancels the request, as the
// repo-server's own caller does when it gives up.
//
// compare and sync read one document of JSON from standard input and write one, with an entry for each object.
//
// gitops-engine, which lives in Argo CD's repository and has no releases, is the only module of another commit: the Go
// module proxy serves that one.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/argoproj/argo-cd/v3/cmd/argocd-cmp-server/commands"
	pluginclient "github.com/argoproj/argo-cd/v3/cmpserver/apiclient"
	"github.com/argoproj/argo-cd/v3/pkg/apis/application/v1alpha1"
	repoclient "github.com/argoproj/argo-cd/v3/reposerver/apiclient"
	"github.com/argoproj/argo-cd/v3/util/cmp"
	grpc_retry "github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors/retry"
)

type request struct {
	Socket  string                            `json:"socket"`
	Method  string                            `json:"method"`
	Repo    string                            `json:"repo"`
	App     string                            `json:"app"`
	Build   []string                          `json:"build"`
	Source  *v1alpha1.ApplicationSourcePlugin `json:"source"`
	Seconds float64                           `json:"seconds"`
}

type answer struct {
	Manifests  []string                            `json:"manifests,omitempty"`
	Supported  bool                                `json:"supported"`
	Parameters []*repoclient.ParameterAnnouncement `json:"parameters,omitempty"`
	Error      string                              `json:"error,omitempty"`
}

func main() {
	switch method := os.Args[1]; method {
	case "ask":
		ask()
		return
	case "compare", "sync":
		if err := judge(method); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	command := commands.NewCommand()
	command.SetArgs(os.Args[2:])
	if err := command.Execute(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func ask() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<24)
	lines.Scan()
	var asked request
	if err := json.Unmarshal(lines.Bytes(), &asked); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(asked.Seconds*float64(time.Second)))
	defer cancel()
	go func() {
		lines.Scan()
		cancel()
	}()
	var found answer
	if err := asked.send(ctx, &found); err != nil {
		found.Error = err.Error()
	}
	if err := json.NewEncoder(os.Stdout).Encode(found); err != nil {
		os.Exit(1)
	}
}

func (r request) send(ctx context.Context, found *answer) error {
	conn, client, err := pluginclient.NewConfigManagementPluginClientSet(r.Socket).NewConfigManagementPluginClient()
	if err != nil {
		return err
	}
	defer conn.Close()
	env, err := r.environ()
	if err != nil {
		return err
	}
	app := filepath.Join(r.Repo, r.App)
	switch r.Method {
	case "generate":
		stream, err := client.GenerateManifest(ctx, grpc_retry.Disable())
		if err != nil {
			return err
		}
		if err := cmp.SendRepoStream(ctx, app, r.Repo, stream, env, nil); err != nil {
			return err
		}
		response, err := stream.CloseAndRecv()
		found.Manifests = response.GetManifests()
		return err
	case "match":
		stream, err := client.MatchRepository(ctx, grpc_retry.Disable())
		if err != nil {
			return err
		}
		if err := cmp.SendRepoStream(ctx, app, r.Repo, stream, env, nil); err != nil {
			return err
		}
		response, err := stream.CloseAndRecv()
		found.Supported = response.GetIsSupported()
		return err
	case "parameters":
		stream, err := client.GetParametersAnnouncement(ctx, grpc_retry.Disable())
		if err != nil {
			return err
		}
		if err := cmp.SendRepoStream(ctx, app, r.Repo, stream, env, nil); err != nil {
			return err
		}
		response, err := stream.CloseAndRecv()
		found.Parameters = response.GetParameterAnnouncements()
		return err
	}
	return fmt.Errorf("unknown method %q", r.Method)
}

// environ is repo-server's getPluginEnvs: build environment, ARGOCD_ENV_* and the parameters.
func (r request) environ() ([]string, error) {
	env := append([]string{}, r.Build...)
	if r.Source == nil {
		return env, nil
	}
	var build v1alpha1.Env
	for _, text := range env {
		entry, err := v1alpha1.NewEnvEntry(text)
		if err != nil {
			return nil, err
		}
		build = append(build, entry)
	}
	for _, entry := range r.Source.Env {
		env = append(env, fmt.Sprintf("ARGOCD_ENV_%s=%s", entry.Name, build.Envsubst(entry.Value)))
	}
	parameters, err := r.Source.Parameters.Environ()
	return append(env, parameters...), err
}
