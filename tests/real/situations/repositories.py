"""Situations that come from git: kinds of repositories and settings of users."""

from subject import remove
from table import situation


@situation("akonwi/git-plus#531", "`color.ui = always` in the user's settings of git", "revisions, branches and changes are read all the same")
def colors_always(s):
    s.crate()
    for name in ("ui", "status", "branch", "diff"):
        s.git("config", f"color.{name}", "always")
    s.slower_than_head()
    s.run("store", "runs").expect(0, without=[r"\x1b"])


@situation("magit/magit#1260", "`status.showUntrackedFiles = no`", "a new module that git does not track is built")
def untracked_files_hidden(s):
    s.crate()
    s.git("config", "status.showUntrackedFiles", "no")
    s.write("src/extra.rs", "pub const N: u64 = 10;")
    s.write("src/lib.rs", "mod extra;\npub fn work(n: u64) -> u64 { (0..n * extra::N).fold(1_u64, |sum, i| std::hint::black_box(sum ^ i).rotate_left(3)) }\n")
    s.slower_than("HEAD")


@situation("MitMaro/git-interactive-rebase-tool#950", "the repository has SHA-256 object names", "compared, and the commit is stored",
           before="`read-tree ... failed`, exit 3, where a SHA-1 repository had been measured at the same path")
def sha256(s):
    s.crate()
    s.run("--against", "HEAD", "no such benchmark").expect(4)
    remove(s.root / ".git")
    s.git("init", "--quiet", "--object-format=sha256")
    s.commit()
    s.slower_than_head()


@situation("MitMaro/git-interactive-rebase-tool#950", "references are stored in the reftable format", "compared")
def reftable(s):
    s.root.mkdir()
    s.git("init", "--quiet", "--ref-format=reftable")
    s.crate()
    s.slower_than_head()


@situation("rust-lang/cargo#7876", "work trees beside a bare clone (`.bare`, a `.git` file that names it)", "compared, one history for both work trees")
def bare_with_work_trees(s):
    s.crate()
    s.git("clone", "--quiet", "--bare", s.root, s.place / "project/.bare", at=s.place)
    s.write(s.place / "project/.git", "gitdir: ./.bare\n")
    s.git("worktree", "add", "--quiet", s.place / "project/one", "main", at=s.place / "project")
    s.git("worktree", "add", "--quiet", "-b", "two", s.place / "project/two", at=s.place / "project")
    s.root = s.place / "project/one"
    s.new()
    s.root = s.place / "project/two"
    s.run("store", "runs").expect(0, "main")
    s.slower_than_head()


@situation("rust-lang/cargo#8746", "a sparse checkout that has no more than the crate", "compared; the revision is built from the same files or more")
def sparse_checkout(s):
    s.member("crate", library="pub use other::*;\npub fn work(n: u64) -> u64 { (0..n).fold(1_u64, |sum, i| std::hint::black_box(sum ^ i).rotate_left(3)) }\n".replace("pub use other::*;\n", ""))
    s.append("crate/Cargo.toml", "[workspace]\n[profile.bench]\nopt-level = 1\ndebug = false\n")
    s.write("elsewhere/large.bin", "x" * 1000)
    s.write(".gitignore", "target\n")
    s.commit()
    s.git("sparse-checkout", "set", "crate")
    assert not (s.root / "elsewhere").exists()
    s.slow_down("crate/src/lib.rs")
    s.slower_than("HEAD", at=s.root / "crate")


@situation("libgit2/libgit2#5564", "a partial clone (`--filter=blob:none`) whose origin is there", "missing files of the revision are fetched by git as usual, or the error says so")
def partial_clone(s):
    s.crate()
    s.git("config", "uploadpack.allowFilter", "true")
    s.slow_down()
    s.commit("slower")
    s.git("clone", "--quiet", "--filter=blob:none", f"file://{s.root}", s.place / "clone", at=s.place)
    s.root = s.place / "clone"
    s.slower_than("HEAD~1")


@situation("rust-lang/cargo#2076", "`core.autocrlf = true`", "the unchanged work tree is the commit: nothing differs")
def line_ends(s):
    s.crate()
    s.git("config", "core.autocrlf", "true")
    (s.root / "src/lib.rs").unlink()
    s.git("checkout", "--quiet", "--", "src/lib.rs")
    assert b"\r\n" in (s.root / "src/lib.rs").read_bytes()
    s.beside("--against", "HEAD").expect(0, "unchanged")


@situation("urbit/urbit#6189", "`.gitattributes` has `export-ignore` on `benches/` and `export-subst` on a source", "the revision has its benches: no archive is made")
def export_attributes(s):
    s.crate()
    s.write(".gitattributes", "benches export-ignore\nsrc/lib.rs export-subst\n")
    s.commit()
    s.slower_than_head()


@situation("coalesce-labs/catalyst#439", "`core.hooksPath` with a `post-checkout` hook that fails", "no hook runs, in the repository or in the cache")
def hooks(s):
    s.crate()
    for name in ("post-checkout", "pre-commit", "post-index-change", "reference-transaction", "post-commit"):
        s.write(s.place / "hooks" / name, f'#!/bin/sh\necho {name} >>"{s.place}/hooked"\nexit 1\n', 0o755)
    s.git("config", "core.hooksPath", str(s.place / "hooks"))
    s.slower_than_head()
    assert not (s.place / "hooked").exists()


@situation("baoyachi/shadow-rs#221", "an `index.lock` was left behind by another program", "read-only use of git goes on: compared")
def index_locked(s):
    s.crate()
    s.write(".git/index.lock", "")
    s.slower_than_head()


@situation("pre-commit/pre-commit#3027", "a file with local changes has `skip-worktree`, another one `assume-unchanged`", "what is on the disk is measured",
           before="a kept build of the commit was taken for the changed files")
def hidden_changes(s):
    s.crate()
    # Keep a build of the unchanged work tree, which must not be taken for one of the changed work tree.
    s.beside("--against", "HEAD").expect(0, "unchanged")
    s.git("update-index", "--assume-unchanged", "src/lib.rs")
    s.slower_than_head()
    s.git("checkout", "--quiet", "--force", "HEAD")
    s.beside("--against", "HEAD").expect(0, "unchanged")
    s.git("update-index", "--no-assume-unchanged", "src/lib.rs")
    s.git("update-index", "--skip-worktree", "src/lib.rs")
    s.slower_than_head()


@situation("sourcefrog/cargo-mutants#492", "`core.excludesFile` ignores `Cargo.lock` and `*.rs.bk`, `.git/info/exclude` ignores a module", "built: what git ignores is copied")
def ignored_by_the_user(s):
    s.crate()
    s.write(s.home / "ignored", "Cargo.lock\nsrc/private.rs\n")
    s.git("config", "--global", "core.excludesFile", str(s.home / "ignored"))
    s.write("src/private.rs", "pub const N: u64 = 1;")
    s.write("src/lib.rs", "mod private;\npub fn work(n: u64) -> u64 { (0..n).fold(private::N, |sum, i| std::hint::black_box(sum ^ i).rotate_left(3)) }\n")
    s.commit()
    s.slower_than_head()


@situation("gitextensions/gitextensions#7403", "a tag and a branch have one name, and a file of the work tree has it, too", "the revision that git takes, or an error that says so; never the file")
def ambiguous_name(s):
    s.crate()
    s.git("branch", "main2")
    s.git("tag", "main2")
    s.write("main2", "a file")
    s.slow_down()
    s.slower_than("main2")


@situation("libgit2/libgit2#648", "`HEAD@{0}`, `:/text`, `v1^{}`, `@`, `main@{u}` and `HEAD^{/text}` as revisions", "what git takes is taken",
           before="`:/text` was no revision")
def syntax_of_revisions(s):
    s.crate()
    s.git("tag", "-a", "v1", "-m", "v1")
    s.slow_down()
    s.slower_than("v1^{}")
    for revision in ("HEAD@{0}", ":/a commit", "@", "HEAD^{/a comm}", "v1"):
        s.run("--against", revision, "no such benchmark").expect(4, "no such benchmark")


@situation("evilmartians/lefthook#1264", "`GIT_DIR`, `GIT_WORK_TREE` and `GIT_INDEX_FILE` of another repository are set, as in a hook", "the repository of the crate is meant, or git's; the index is not touched")
def variables_of_a_hook(s):
    s.crate()
    s.slow_down()
    index = s.root / ".git/index.other"
    index.write_bytes((s.root / ".git/index").read_bytes())
    before = index.read_bytes()
    s.slower_than("HEAD", env={"GIT_DIR": s.root / ".git", "GIT_INDEX_FILE": index, "GIT_PREFIX": "src/"})
    assert index.read_bytes() == before


@situation("jorgegv/jnext#149", "`submodule.recurse = true` and a submodule that was never cloned and that no bench needs", "compared, or an error that names the submodule and what to do")
def absent_submodule(s):
    s.crate()
    other = s.place / "other"
    other.mkdir()
    s.git("init", "--quiet", at=other)
    s.git("commit", "--quiet", "--allow-empty", "-m", "x", at=other)
    s.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(other), "assets")
    s.commit()
    s.git("clone", "--quiet", s.root, s.place / "clone", at=s.place)
    s.root = s.place / "clone"
    s.git("config", "submodule.recurse", "true")
    s.slower_than_head()


@situation("crate-ci/cargo-release#731", "the crate lies in a directory of a large repository that has other languages beside it", "compared")
def deep_in_a_monorepo(s):
    s.member("a/b c/d")
    s.append("a/b c/d/Cargo.toml", "[workspace]\n[profile.bench]\nopt-level = 1\ndebug = false\n")
    for number in range(300):
        s.write(f"js/node{number}/index.js", str(number))
    s.write(".gitignore", "target\n")
    s.commit()
    s.slow_down("a/b c/d/src/lib.rs")
    s.slower_than("HEAD", at=s.root / "a/b c/d")


@situation("quinnjr/skia-rs#20", "files of Git LFS are there as pointers, and no filter is configured", "compared")
def pointers_of_lfs(s):
    s.crate()
    s.write(".gitattributes", "*.bin filter=lfs diff=lfs merge=lfs -text\n")
    s.write("data.bin", "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 12345\n")
    s.commit()
    s.slower_than_head()


@situation("rust-lang/cargo#4131", "a linked work tree whose directory was renamed", "compared")
def renamed_work_tree(s):
    s.crate()
    s.git("worktree", "add", "--quiet", "-b", "other", s.place / "before")
    (s.place / "before").rename(s.place / "after")
    s.root = s.place / "after"
    s.slower_than_head()
