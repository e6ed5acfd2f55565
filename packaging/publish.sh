#!/usr/bin/env bash
# Publishes all crates in their order; cargo waits until each can be found before it publishes those that depend on it. For the owner, who has a token.
#
#   packaging/publish.sh              checks, and says what would be published
#   packaging/publish.sh --publish    publishes. This cannot be undone.
set -euo pipefail
cd "$(dirname "$0")/.."

python3 packaging/owner_fields.py
[[ -z $(git status --porcelain) ]] || { echo "error: there are changes that are not committed" >&2; exit 1; }
version=$(cargo metadata --no-deps --locked --format-version 1 | python3 -c 'import json, sys
print(next(package["version"] for package in json.load(sys.stdin)["packages"] if package["name"] == "cargo-perfcheck"))')
[[ $(git tag --points-at HEAD) == *"v$version"* ]] || { echo "error: the last commit has no tag v$version" >&2; exit 1; }
grep -Eq "^## $version - [0-9]{4}-[0-9]{2}-[0-9]{2}$" CHANGELOG.md || { echo "error: CHANGELOG.md has no date for $version" >&2; exit 1; }

case ${1-} in
--publish) cargo publish --workspace --locked ;;
"") cargo publish --workspace --locked --dry-run ;;
*) echo "error: what is \`$1\`?" >&2; exit 2 ;;
esac
