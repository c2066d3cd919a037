package main

import (
	"context"
	"net/http"
	"path"

	"github.com/containerd/containerd/v2/core/remotes/docker"
	"github.com/containerd/containerd/v2/core/remotes/docker/config"
	"github.com/containerd/log"
	"github.com/sirupsen/logrus"
	"go.podman.io/image/v5/docker/reference"
	"go.podman.io/image/v5/pkg/sysregistriesv2"
	"go.podman.io/image/v5/types"
)

// server is where an image is asked for. Repository and Insecure are of registries.conf, the others of hosts.toml.
type server struct {
	Repository string      `json:"repository,omitempty"`
	Insecure   bool        `json:"insecure"`
	URL        string      `json:"url,omitempty"`
	Pulls      bool        `json:"pulls,omitempty"`
	Resolves   bool        `json:"resolves,omitempty"`
	Fallback   bool        `json:"fallback,omitempty"`
	Header     http.Header `json:"header,omitempty"`
}

// route has null servers where no table of the file is about the image.
type route struct {
	Servers []server `json:"servers"`
	Blocked bool     `json:"blocked,omitempty"`
	Error   string   `json:"error,omitempty"`
}

// servers answers {"registriesConf": path, "references": [..]} and {"hostsDir": folder, "hosts": [..]}.
func servers(asked question) (found []route) {
	log.L.Logger.SetLevel(logrus.PanicLevel)
	ctx := &types.SystemContext{
		SystemRegistriesConfPath:    asked.RegistriesConf,
		SystemRegistriesConfDirPath: asked.RegistriesConf + ".d",
	}
	sysregistriesv2.InvalidateCache()
	for _, image := range asked.References {
		found = append(found, ofConf(ctx, image))
	}
	for _, host := range asked.Hosts {
		found = append(found, ofDir(asked.HostsDir, host))
	}
	return found
}

func ofConf(ctx *types.SystemContext, image string) route {
	named, err := reference.ParseNormalizedNamed(image)
	if err != nil {
		return route{Error: err.Error()}
	}
	registry, err := sysregistriesv2.FindRegistry(ctx, named.String())
	if err != nil {
		return route{Error: err.Error()}
	}
	if registry == nil {
		return route{}
	}
	sources, err := registry.PullSourcesFromReference(named)
	if err != nil {
		return route{Error: err.Error()}
	}
	answer := route{Servers: []server{}}
	for _, source := range sources {
		// As newDockerClient, which makes the attempt fail.
		own, err := sysregistriesv2.FindRegistry(ctx, source.Reference.String())
		if err != nil {
			return route{Error: err.Error()}
		}
		if own != nil && own.Blocked {
			continue
		}
		one := server{Repository: source.Reference.Name(), Insecure: source.Endpoint.Insecure}
		answer.Servers = append(answer.Servers, one)
	}
	answer.Blocked = len(answer.Servers) == 0
	return answer
}

func ofDir(folder, host string) route {
	hosts := config.HostOptions{HostDir: config.HostDirFromRoot(folder)}
	found, err := config.ConfigureHosts(context.Background(), hosts)(host)
	if err != nil {
		return route{Error: err.Error()}
	}
	answer := route{Servers: []server{}}
	for _, one := range found {
		made := server{
			URL:      one.Scheme + "://" + one.Host + path.Join("/", one.Path),
			Pulls:    one.Capabilities.Has(docker.HostCapabilityPull),
			Resolves: one.Capabilities.Has(docker.HostCapabilityResolve),
			Header:   one.Header,
		}
		if transport, plain := one.Client.Transport.(*http.Transport); plain {
			made.Insecure = transport.TLSClientConfig.InsecureSkipVerify
		} else {
			made.Fallback = true
		}
		answer.Servers = append(answer.Servers, made)
	}
	return answer
}
