"""The part `fleet` of `make whole`: what the chart installs for audits runs under the real controllers, see `turns`."""
