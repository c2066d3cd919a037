# Written by `make release-check` by scripts/release/package_managers.py.py.
class Archfit < Formula
  include Language::Python::Virtualenv

  desc "Places Kubernetes pods by the CPU architectures their images support"
  homepage "@address@"
  url "@archive@"
  sha256 "@sha256@"
  license "Apache-2.0"

  depends_on "libyaml"
  depends_on "python@3.13"

@resources@
  def install
    virtualenv_install_with_resources
    man1.install_symlink libexec/"share/man/man1/archfit.1"
    generate_completions_from_executable(bin/"archfit", "completion")
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/archfit --version")
    object = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"
    assert_equal object, pipe_output("#{bin}/archfit --offline", object, 0)
  end
end
