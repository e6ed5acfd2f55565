#!/usr/bin/env bash
# Publishes all crates, each after the crates that it depends on: cargo waits until the registry has a crate before it publishes the next ones.
# Only the owner can run this, because publishing needs a token.
#
#   packaging/publish.sh              runs the checks, and shows what would be published
#   packaging/publish.sh --publish    runs the checks, and publishes; this cannot be undone
set -euo pipefail
cd "$(dirname "$0")/.."

python3 packaging/owner_fields.py
[[ -z $(git status --porcelain) ]] || { echo "error: the work tree has uncommitted changes" >&2; exit 1; }
version=$(cargo metadata --no-deps --locked --format-version 1 | python3 -c 'import json, sys
print(next(package["version"] for package in json.load(sys.stdin)["packages"] if package["name"] == "cargo-perfcheck"))')
[[ $(git tag --points-at HEAD) == *"v$version"* ]] || { echo "error: the last commit has no tag v$version" >&2; exit 1; }
grep -Eq "^## $version - [0-9]{4}-[0-9]{2}-[0-9]{2}$" CHANGELOG.md || { echo "error: CHANGELOG.md has no entry \`## $version - YYYY-MM-DD\`" >&2; exit 1; }

case ${1-} in
--publish) cargo publish --workspace --locked ;;
"") cargo publish --workspace --locked --dry-run ;;
*) echo "error: unknown argument \`$1\`" >&2; exit 2 ;;
esac
