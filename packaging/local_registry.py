#!/usr/bin/env python3
"""Serves a registry of `.crate` files on the loopback address: a sparse index, and the files themselves.

    python3 packaging/local_registry.py DIRECTORY FILE.crate...    makes DIRECTORY and serves it until interrupted

The index is made from the manifests in the files. Prints the configuration with which cargo uses this registry in place of crates.io. It has
only these crates, because nothing is forwarded to crates.io.
"""

import hashlib
import http.server
import json
import pathlib
import sys
import tarfile
import threading
import tomllib


def index_path(name):
    """Returns the path at which cargo looks for a crate in an index."""
    name = name.lower()
    if len(name) <= 2:
        return f"{len(name)}/{name}"
    if len(name) == 3:
        return f"3/{name[0]}/{name}"
    return f"{name[:2]}/{name[2:4]}/{name}"


def manifest_of(crate):
    """Returns the manifest in a `.crate` file, as cargo wrote it when it packaged the crate."""
    with tarfile.open(crate, "r:gz") as archive:
        member = archive.extractfile(f"{crate.name.removesuffix('.crate')}/Cargo.toml")
        return tomllib.loads(member.read().decode())


def dependencies_of(table, target):
    """Yields the index entries for the dependencies in a table of a manifest.

    Dev-dependencies are included. Cargo does not resolve them, but features may name them.
    """
    kinds = ("normal", ["dependencies"]), ("build", ["build-dependencies", "build_dependencies"]), ("dev", ["dev-dependencies", "dev_dependencies"])
    for kind, keys in kinds:
        for key in keys:
            for name, value in table.get(key, {}).items():
                value = {"version": value} if isinstance(value, str) else value
                entry = {
                    "name": name,
                    "req": value.get("version", "*"),
                    "features": value.get("features", []),
                    "optional": value.get("optional", False),
                    "default_features": value.get("default-features", value.get("default_features", True)),
                    "target": target,
                    "kind": kind,
                }
                if "package" in value:
                    entry["package"] = value["package"]
                yield entry


def index_line(crate):
    """Returns the name of the package in a `.crate` file, and its line in the index."""
    manifest = manifest_of(crate)
    package = manifest["package"]
    dependencies = list(dependencies_of(manifest, None))
    for target, table in manifest.get("target", {}).items():
        dependencies += dependencies_of(table, target)
    line = {
        "name": package["name"],
        "vers": package["version"],
        "deps": dependencies,
        "cksum": hashlib.sha256(crate.read_bytes()).hexdigest(),
        "features": {},
        "features2": manifest.get("features", {}),
        "yanked": False,
        "links": package.get("links"),
        "rust_version": package.get("rust-version"),
        "v": 2,
    }
    return package["name"], line


class Registry:
    """A registry with its files in `directory`. It is served while the value is used as a context. `sent` is the number of bytes of files that were sent."""

    def __init__(self, directory, crates):
        self.directory = directory
        self.sent = 0
        lines = {}
        files = directory / "crates"
        files.mkdir(parents=True)
        for crate in crates:
            name, line = index_line(crate)
            lines.setdefault(name, []).append(line)
            (files / f"{name}-{line['vers']}.crate").write_bytes(crate.read_bytes())
        for name, of_versions in lines.items():
            path = directory / "index" / index_path(name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("".join(json.dumps(line) + "\n" for line in of_versions), encoding="utf-8")
        self.count = sum(map(len, lines.values()))

    def __enter__(self):
        registry = self

        class Handler(http.server.SimpleHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            # Send each answer at once. The system would otherwise hold back small packets.
            disable_nagle_algorithm = True

            def __init__(self, *args, **kwargs):
                super().__init__(*args, directory=str(registry.directory), **kwargs)

            def log_message(self, *_):
                pass

            def copyfile(self, source, outputfile):
                data = source.read()
                registry.sent += len(data)
                outputfile.write(data)

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}"
        (self.directory / "index").mkdir(exist_ok=True)
        (self.directory / "index/config.json").write_text(json.dumps({"dl": f"{self.address}/crates/{{crate}}-{{version}}.crate"}), encoding="utf-8")
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    def configuration(self):
        """Returns the configuration with which cargo takes all crates of crates.io from this registry."""
        return f'[source.crates-io]\nreplace-with = "local"\n\n[source.local]\nregistry = "sparse+{self.address}/index/"\n'


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    directory, *crates = map(pathlib.Path, sys.argv[1:])
    with Registry(directory, crates) as registry:
        print(registry.configuration(), flush=True)
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            pass


if __name__ == "__main__":
    main()
