#!/bin/sh
{mark}
exec {program} "$@"
