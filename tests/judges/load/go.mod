module archfit.dev/load

go 1.24
