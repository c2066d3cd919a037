module runtime_judge

go 1.26.6

require (
	github.com/containerd/containerd/v2 v2.4.2
	github.com/containerd/errdefs v1.0.0
	github.com/containerd/platforms v1.0.0-rc.5
	github.com/opencontainers/go-digest v1.0.0
	github.com/opencontainers/image-spec v1.1.1
	go.podman.io/image/v5 v5.42.0
)

require (
	github.com/containerd/log v0.2.0 // indirect
	github.com/containers/libtrust v0.0.0-20230121012942-c1716e8a8d01 // indirect
	github.com/containers/ocicrypt v1.3.2 // indirect
	github.com/klauspost/compress v1.20.3 // indirect
	github.com/moby/moby/client v0.6.2 // indirect
	github.com/sirupsen/logrus v1.10.2 // indirect
	go.podman.io/storage v1.65.0 // indirect
	golang.org/x/sync v0.24.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
)
