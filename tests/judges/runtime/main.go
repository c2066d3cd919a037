// runtime_judge says which manifest of an index container runtimes take on a node, by their own code.
//
// It reads one JSON object a line on stdin and writes one a line on stdout:
//
//	question  {"index": "sha256:..", "mediaType": "..", "blobs": {"sha256:..": base64, ..},
//	           "node": {"os": "linux", "architecture": "arm64", "variant": "v8"}}
//	answer    {"containerd": digest, "containerd-transfer": digest, "cri-o": digest}
//
// A digest is that of the config of what is taken, "" where nothing is.
//
//	containerd           images.Manifest with platforms.Only, as client.Pull does: CRI up to containerd 2.0, later with
//	                     use_local_image_pull
//	containerd-transfer  what platforms.Ordered lets the transfer service fetch, then images.Manifest over that: CRI from
//	                     containerd 2.1 on
//	cri-o                ChooseInstance of containers/image; what is chosen must not be a list again
//
// mirrors.go answers questions about where an image is asked for.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/containerd/containerd/v2/core/content"
	"github.com/containerd/containerd/v2/core/images"
	"github.com/containerd/errdefs"
	"github.com/containerd/platforms"
	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"go.podman.io/image/v5/manifest"
	"go.podman.io/image/v5/types"
)

type question struct {
	Index     digest.Digest            `json:"index"`
	MediaType string                   `json:"mediaType"`
	Blobs     map[digest.Digest][]byte `json:"blobs"`
	Node      ocispec.Platform         `json:"node"`

	RegistriesConf string   `json:"registriesConf"`
	References     []string `json:"references"`
	HostsDir       string   `json:"hostsDir"`
	Hosts          []string `json:"hosts"`
}

// shelf is a content.Provider over blobs in memory.
type shelf map[digest.Digest][]byte

type reader struct{ *bytes.Reader }

func (reader) Close() error { return nil }

func (s shelf) ReaderAt(_ context.Context, desc ocispec.Descriptor) (content.ReaderAt, error) {
	body, ok := s[desc.Digest]
	if !ok {
		return nil, fmt.Errorf("%s: %w", desc.Digest, errdefs.ErrNotFound)
	}
	return reader{bytes.NewReader(body)}, nil
}

func containerd(ctx context.Context, held shelf, top ocispec.Descriptor, node ocispec.Platform) string {
	found, err := images.Manifest(ctx, held, top, platforms.Only(node))
	if err != nil {
		return ""
	}
	return found.Config.Digest.String()
}

func transferred(ctx context.Context, held shelf, top ocispec.Descriptor, node ocispec.Platform) string {
	fetched := shelf{}
	children := images.FilterPlatforms(images.ChildrenHandler(held), platforms.Ordered(node))
	err := images.Walk(ctx, images.HandlerFunc(func(ctx context.Context, desc ocispec.Descriptor) ([]ocispec.Descriptor, error) {
		if body, ok := held[desc.Digest]; ok {
			fetched[desc.Digest] = body
		}
		return children(ctx, desc)
	}), top)
	if err != nil {
		return ""
	}
	return containerd(ctx, fetched, top, node)
}

func crio(held shelf, top ocispec.Descriptor, node ocispec.Platform) string {
	list, err := manifest.ListFromBlob(held[top.Digest], top.MediaType)
	if err != nil {
		return ""
	}
	chosen, err := list.ChooseInstance(&types.SystemContext{
		OSChoice: node.OS, ArchitectureChoice: node.Architecture, VariantChoice: node.Variant,
	})
	if err != nil {
		return ""
	}
	body := held[chosen]
	if manifest.MIMETypeIsMultiImage(manifest.GuessMIMEType(body)) {
		return ""
	}
	var taken ocispec.Manifest
	if err := json.Unmarshal(body, &taken); err != nil {
		return ""
	}
	return taken.Config.Digest.String()
}

func main() {
	in, out := bufio.NewReader(os.Stdin), json.NewEncoder(os.Stdout)
	for {
		line, err := in.ReadBytes('\n')
		if err == io.EOF {
			return
		}
		var asked question
		if err == nil {
			err = json.Unmarshal(line, &asked)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
		if asked.RegistriesConf != "" || asked.HostsDir != "" {
			if err := out.Encode(servers(asked)); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(2)
			}
			continue
		}
		ctx, held := context.Background(), shelf(asked.Blobs)
		top := ocispec.Descriptor{MediaType: asked.MediaType, Digest: asked.Index, Size: int64(len(held[asked.Index]))}
		answer := map[string]string{
			"containerd":          containerd(ctx, held, top, asked.Node),
			"containerd-transfer": transferred(ctx, held, top, asked.Node),
			"cri-o":               crio(held, top, asked.Node),
		}
		if err := out.Encode(answer); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
	}
}
