# A draft for nixpkgs; nobody has submitted it. The two hashes are those of a release: OWNER-FILLS-IN.
{
  lib,
  stdenv,
  rustPlatform,
  fetchgit,
  installShellFiles,
}:

rustPlatform.buildRustPackage (finalAttrs: {
  pname = "cargo-perfcheck";
  version = "0.1.0";

  src = fetchgit {
    url = "https://owner-fills-in.invalid/cargo-perfcheck";
    tag = "v${finalAttrs.version}";
    hash = lib.fakeHash;
  };
  cargoHash = lib.fakeHash;

  cargoBuildFlags = [
    "--package"
    "cargo-perfcheck"
  ];
  # The tests build and measure other crates, for which they need a registry and quiet hours.
  doCheck = false;

  nativeBuildInputs = [ installShellFiles ];
  postInstall = lib.optionalString (stdenv.buildPlatform.canExecute stdenv.hostPlatform) ''
    tool=$out/bin/cargo-perfcheck
    installShellCompletion --cmd cargo-perfcheck \
      --bash <($tool perfcheck completions bash) \
      --fish <($tool perfcheck completions fish) \
      --zsh <($tool perfcheck completions zsh)
    $tool perfcheck man > cargo-perfcheck.1
    installManPage cargo-perfcheck.1
  '';

  meta = {
    description = "Compares the benchmarks of two versions of a Rust project side by side";
    homepage = finalAttrs.src.url;
    license = with lib.licenses; [
      mit
      asl20
    ];
    mainProgram = "cargo-perfcheck";
    # Others were not tried.
    platforms = [ "x86_64-linux" ];
  };
})
