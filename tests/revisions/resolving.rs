//! How names are resolved to commits, and the errors for unknown names.

use std::fs;

use perfcheck_host::Checkout;
use perfcheck_host::process::Supervisor;

use crate::revisions::repository::Repository;

fn text<T: std::fmt::Debug>(outcome: Result<T, impl std::fmt::Display>) -> String {
    match outcome {
        Ok(found) => panic!("{found:?}"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn names_tags_and_beginnings_of_hashes_stand_for_commits() {
    let made = Repository::new();
    let first = made.git(&["rev-parse", "HEAD"]);
    made.git(&["tag", "--annotate", "--message", "Release", "v1"]);
    let second = made.commit();
    for (name, commit) in [
        ("v1", &first),
        ("HEAD~1", &first),
        (&first[..8], &first),
        ("main", &second),
    ] {
        assert_eq!(made.revision(name).commit, *commit);
    }
    made.git(&["commit", "--quiet", "--allow-empty", "--message", "by text"]);
    let third = made.git(&["rev-parse", "HEAD"]);
    assert_eq!(made.revision(":/by text").commit, third);
    assert_eq!(
        made.revision("v1").to_string(),
        format!("v1 ({})", &first[..10])
    );
    assert_eq!(made.revision(&first).to_string(), first[..10]);
}

#[test]
fn an_unknown_revision_is_an_error_that_says_what_to_do() {
    let made = Repository::new();
    let checkout = made.checkout();
    let said = text(checkout.revision("nowhere"));
    assert!(
        said.contains("`nowhere`") && said.contains("git fetch"),
        "{said}"
    );
    // Git must not treat the name as an option.
    let said = text(checkout.revision("--all"));
    assert!(said.contains("`--all`"), "{said}");
    made.git(&["update-ref", "refs/remotes/origin/topic", "HEAD"]);
    let said = text(checkout.revision("topic"));
    assert!(said.contains("origin/topic"), "{said}");
}

#[test]
fn a_directory_without_a_repository_is_an_error_that_offers_another_way() {
    let directory = tempfile::tempdir().expect("a directory");
    let said = text(Checkout::find(directory.path(), &Supervisor::default()));
    assert!(
        said.contains("is not in a git repository") && said.contains("--baseline"),
        "{said}"
    );
}

#[test]
fn what_a_shallow_clone_has_not_got_is_explained_by_that() {
    let made = Repository::new();
    let first = made.git(&["rev-parse", "HEAD"]);
    made.commit();
    let clone = made.machine.home().join("clone");
    let origin = format!("file://{}", made.root.display());
    let clone_path = clone.display().to_string();
    made.git(&["clone", "--quiet", "--depth", "1", &origin, &clone_path]);
    let checkout = Checkout::find(&clone, &Supervisor::default()).expect("a repository");
    let said = text(checkout.revision(&first));
    assert!(
        said.contains("shallow") && said.contains("--unshallow"),
        "{said}"
    );
}

#[test]
fn the_merge_base_is_where_the_branch_was_left_also_if_only_the_remote_has_the_branch() {
    let made = Repository::new();
    let fork = made.git(&["rev-parse", "HEAD"]);
    made.git(&["switch", "--quiet", "--create", "topic"]);
    made.commit();
    made.git(&["switch", "--quiet", "main"]);
    made.commit();
    made.git(&["switch", "--quiet", "topic"]);
    let checkout = made.checkout();
    let base = checkout.merge_base("main").expect("a merge base");
    assert_eq!(base.commit, fork);
    assert!(base.to_string().contains("main"), "{base}");
    made.git(&["update-ref", "refs/remotes/origin/trunk", "main"]);
    assert_eq!(
        checkout.merge_base("trunk").expect("a merge base").commit,
        fork
    );
    assert!(text(checkout.merge_base("nowhere")).contains("`nowhere`"));
    made.git(&["checkout", "--quiet", "--orphan", "alone"]);
    made.commit();
    let said = text(checkout.merge_base("main"));
    assert!(said.contains("no common ancestor"), "{said}");
}

#[test]
fn the_commits_of_a_range_come_oldest_first_and_only_forwards() {
    let made = Repository::new();
    let good = made.git(&["rev-parse", "HEAD"]);
    let between = [made.commit(), made.commit(), made.commit()];
    let checkout = made.checkout();
    let found = checkout.commits_between(&good, "HEAD").expect("a range");
    assert_eq!(found, between);
    let said = text(checkout.commits_between("HEAD", &good));
    assert!(said.contains("is not an ancestor"), "{said}");
}

#[test]
fn a_checkout_differs_from_its_commit_where_tracked_files_do() {
    let made = Repository::new();
    let checkout = made.checkout();
    let state = || checkout.state().expect("an answer");
    let head = made.git(&["rev-parse", "HEAD"]);
    let clean = state().expect("a commit");
    assert_eq!((&clean.commit, clean.dirty), (&head, false));
    assert_eq!(clean.branch.as_deref(), Some("main"));
    made.write("src/lib.rs", "");
    assert!(state().expect("a commit").dirty);
    made.git(&["switch", "--quiet", "--detach"]);
    assert_eq!(state().expect("a commit").branch, None);
    made.git(&["switch", "--quiet", "--force", "--orphan", "empty"]);
    assert_eq!(state(), None, "before the first commit");
}

#[test]
fn a_work_tree_is_a_commit_unless_there_are_new_files_that_git_does_not_ignore() {
    let made = Repository::new();
    let exclude = made.root.join(".git/info/exclude");
    fs::write(exclude, "ignored.txt\n").expect("written");
    made.write("ignored.txt", "");
    assert!(made.work_tree().0.commit.is_some());
    made.write("new.txt", "");
    assert!(made.work_tree().0.commit.is_none());
}

#[test]
fn a_repository_without_files_is_refused_with_the_words_of_git() {
    let directory = tempfile::tempdir().expect("a directory");
    let bare = directory.path().join("bare");
    let made = Repository::new();
    made.git(&["init", "--quiet", "--bare", &bare.display().to_string()]);
    let said = text(Checkout::find(&bare, &Supervisor::default()));
    assert!(said.contains("must be run in a work tree"), "{said}");
}
