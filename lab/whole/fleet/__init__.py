"""The part `fleet`: what the chart installs for audits runs under the real controllers, see `turns`."""
