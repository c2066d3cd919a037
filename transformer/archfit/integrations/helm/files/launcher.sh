#!/bin/sh
{mark}
export ARCHFIT_ON_BLANK="${{ARCHFIT_ON_BLANK:-comment}}"
export ARCHFIT_HOOKS="${{ARCHFIT_HOOKS:-recreated}}"
exec {program} transform "$@"
