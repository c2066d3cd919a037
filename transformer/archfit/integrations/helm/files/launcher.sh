#!/bin/sh
{mark}
config=${{0%/*}}/archfit.yaml
if [ -z "$ARCHFIT_CONFIG" ] && [ -f "$config" ]; then export ARCHFIT_CONFIG="$config"; fi
exec {program} "$@"
