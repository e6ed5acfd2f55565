//! Reads the description of a commit from git.

use super::git::Checkout;
use super::git_error::GitError;
use perfcheck_analysis::model::Commit;

impl Checkout {
    /// Returns author, date and subject; empty if git does not know the commit.
    pub fn describe(&self, commit: &str) -> Result<Commit, GitError> {
        let format = "--format=%an%x00%aI%x00%s";
        let answer = self
            .query(&["log", "-1", "--no-show-signature", format, commit])?
            .unwrap_or_default();
        let mut parts = answer.splitn(3, '\0').map(str::to_owned);
        let mut part = || parts.next().unwrap_or_default();
        Ok(Commit {
            hash: commit.to_owned(),
            author: part(),
            authored: part(),
            subject: part(),
        })
    }
}
