#!/bin/sh
# Pushes the chart and the plugin of dist/ to a registry: push.sh REPOSITORY VERSION, as push.sh ghcr.io/NAME/archfit X.Y.Z.
# The chart becomes REPOSITORY/charts/archfit:VERSION, the plugin REPOSITORY/helm-plugin/archfit:VERSION.
# HELM_FLAGS and the host's settings of regctl say how to reach a registry without TLS.
set -eu
cd "$(dirname "$0")/../.."
tools=$PWD/.tools/bin
# shellcheck disable=SC2086
"$tools/helm4" push "dist/chart/archfit-$2.tgz" "oci://$1/charts" ${HELM_FLAGS:-}
cd dist/plugin
"$tools/regctl" artifact put --artifact-type application/vnd.helm.plugin.v1+json --file-title \
  --file "archfit-$2.tgz" --file-media-type application/vnd.oci.image.layer.v1.tar+gzip \
  --file "archfit-$2.tgz.prov" --file-media-type application/vnd.oci.image.layer.v1.tar \
  "$1/helm-plugin/archfit:$2"
