# A draft; nobody has submitted it.
class CargoPerfcheck < Formula
  desc "Compares the benchmarks of two versions of a Rust project side by side"
  homepage "https://owner-fills-in.invalid/cargo-perfcheck"
  # Where GitHub puts the sources of a tag.
  url "https://owner-fills-in.invalid/cargo-perfcheck/archive/refs/tags/v0.1.0.tar.gz"
  sha256 "OWNER-FILLS-IN"
  license any_of: ["MIT", "Apache-2.0"]

  depends_on "rust" => [:build, :test]
  # Not tried on macOS.
  depends_on :linux

  def install
    system "cargo", "install", *std_cargo_args
    tool = bin/"cargo-perfcheck"
    generate_completions_from_executable(tool, "perfcheck", "completions")
    (man1/"cargo-perfcheck.1").write Utils.safe_popen_read(tool, "perfcheck", "man")
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/cargo-perfcheck --version")
    (testpath/"Cargo.toml").write <<~TOML
      [package]
      name = "demo"
      version = "0.0.0"
      edition = "2021"
    TOML
    (testpath/"src/lib.rs").write ""
    # No benchmarks: `init` says so, and changes nothing.
    assert_match "no benchmarks", shell_output("cargo perfcheck init --offline")
  end
end
