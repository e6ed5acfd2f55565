#!/usr/bin/env python3
"""A registry on this machine, made of `.crate` files: a sparse index and the files, served on the loopback address.

    python3 packaging/local_registry.py DIRECTORY FILE.crate...    makes DIRECTORY and serves it until interrupted

The index is made of the manifests in the files. It replaces crates.io in a cargo configuration, which is printed; nothing is forwarded.
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
    """Where cargo looks for a crate in an index."""
    name = name.lower()
    if len(name) <= 2:
        return f"{len(name)}/{name}"
    if len(name) == 3:
        return f"3/{name[0]}/{name}"
    return f"{name[:2]}/{name[2:4]}/{name}"


def manifest_of(crate):
    """The manifest of a `.crate` file, as cargo wrote it when it packaged the crate."""
    with tarfile.open(crate, "r:gz") as archive:
        member = archive.extractfile(f"{crate.name.removesuffix('.crate')}/Cargo.toml")
        return tomllib.loads(member.read().decode())


def dependencies_of(table, target):
    """The entries of an index for the dependencies in a table. Nobody resolves those of tests, but features may name them."""
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
    """The name of a `.crate` file's package, and its line of the index."""
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
    """Files of a registry below `directory`, served while the value is used as a context. `sent` is the number of bytes that were sent."""

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
            # An answer leaves at once.
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
        """What makes cargo take all crates of crates.io from here."""
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
