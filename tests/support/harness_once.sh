#!/bin/sh
# RUSTC_WRAPPER of tests with crates of their own: each would compile the crate `perfcheck` anew, twice. The same call for the same sources is answered
# from $COMPILED_HARNESSES.
set -eu

case " $* " in
*" --crate-name perfcheck "*) ;;
*) exec "$@" ;;
esac

out='' suffix='' before='' call=''
for word; do
    case $before in
    --out-dir) out=$word ;;
    *) call="$call $word" ;;
    esac
    case $word in extra-filename=*) suffix=${word#extra-filename=} ;; esac
    before=$word
done
# Its own directory of dependencies is empty, wherever it is.
call=$(printf '%s' "$call" | sed "s|$out|OUT|g")
sources=$(find "$CARGO_MANIFEST_DIR/src" -name '*.rs' | LC_ALL=C sort | xargs cat)
kept=$COMPILED_HARNESSES/$(printf '%s' "$call$sources" | cksum | tr ' ' -)

if [ ! -d "$kept" ]; then
    new=$kept.$$
    mkdir -p "$new"
    if ! "$@" 2>"$new/stderr"; then
        cat "$new/stderr" >&2
        rm -r "$new"
        exit 1
    fi
    cp "$out"/*perfcheck"$suffix".* "$new"
    sed -i "s|$out|OUT|g" "$new/stderr" "$new"/*.d
    # Another one may have been quicker.
    mv -T "$new" "$kept" 2>/dev/null || rm -r "$new"
fi
cp "$kept"/*perfcheck* "$out"
sed -i "s|OUT|$out|g" "$out"/*perfcheck"$suffix".d
sed "s|OUT|$out|g" "$kept/stderr" >&2
