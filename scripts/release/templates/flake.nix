# Written by `make release-check` by scripts/release/package_managers.py.py.
{
  description = "archfit places Kubernetes pods by the CPU architectures their images support";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";

  outputs = { self, nixpkgs }:
    let
      systems = [ "x86_64-linux" "aarch64-linux" "x86_64-darwin" "aarch64-darwin" ];
    in
    {
      packages = nixpkgs.lib.genAttrs systems (system:
        let
          python = nixpkgs.legacyPackages.${system}.python3Packages;
        in
        {
          default = python.buildPythonApplication {
            pname = "archfit";
            version = "@version@";
            pyproject = true;
            src = nixpkgs.legacyPackages.${system}.fetchurl {
              url = "@archive@";
              sha256 = "@sha256@";
            };
            build-system = [ python.hatchling ];
            dependencies = with python; [ @libraries@ ];
            pythonImportsCheck = [ "archfit" ];
          };
        });
    };
}
