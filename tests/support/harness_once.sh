#!/bin/sh
# RUSTC_WRAPPER of tests: each crate of theirs would compile the crate `perfcheck` anew, for every build. The same call for the same sources is answered from
# $COMPILED_HARNESSES. Entries that nobody used for a day go when another one comes.
set -eu

case " $* " in
*" --crate-name perfcheck "*) ;;
*) exec "$@" ;;
esac
# Sources below a test's home directory are gone after it.
case $CARGO_MANIFEST_DIR in
"$HOME"/*) exec "$@" ;;
esac

out='' suffix='' before='' call=''
for word; do
    case $before$word in
    --out-dir*) out=$word ;;
    # A library is not linked.
    -Clinker=*) ;;
    *) call="$call $word" ;;
    esac
    case $word in extra-filename=*) suffix=${word#extra-filename=} ;; esac
    before=$word
done
# Temporary directories differ between tests and change nothing in the result.
call=$(printf '%s' "$call" | sed "s|$out|@out@|g; s|$HOME|@home@|g")
sources=$(find "$CARGO_MANIFEST_DIR/src" -type f -print0 | LC_ALL=C sort -z | xargs -0 cksum)
kept=$COMPILED_HARNESSES/$(printf '%s\n' "$call" "$sources" | cksum | tr ' ' -)

if [ ! -d "$kept" ]; then
    new=$kept.$$
    mkdir -p "$new"
    find "$COMPILED_HARNESSES" -mindepth 1 -maxdepth 1 -mtime +0 -exec rm -r {} + || true
    if ! "$@" 2>"$new/stderr"; then
        cat "$new/stderr" >&2
        rm -r "$new"
        exit 1
    fi
    cp "$out"/*perfcheck"$suffix".* "$new"
    sed -i "s|$out|@out@|g" "$new/stderr" "$new"/*.d
    # Another one may have been quicker.
    mv -T "$new" "$kept" 2>/dev/null || rm -r "$new"
fi
touch "$kept"
cp "$kept"/*perfcheck* "$out"
sed -i "s|@out@|$out|g" "$out"/*perfcheck"$suffix".d
sed "s|@out@|$out|g" "$kept/stderr" >&2
