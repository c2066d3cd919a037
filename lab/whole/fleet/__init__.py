"""The part `fleet` of `make whole`: what `archfit setup fleet` writes runs under the real controllers, see `turns`."""
