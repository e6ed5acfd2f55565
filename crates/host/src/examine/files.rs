//! Reads the files below /proc and /sys.

use std::fs;

/// Access to files of the system. Tests have their own implementation.
pub trait SystemFiles {
    /// Returns the whole text of a file; `None` if it cannot be read.
    fn text(&self, path: &str) -> Option<String>;
    /// Returns the sorted names in a directory; none if it cannot be read.
    fn names(&self, directory: &str) -> Vec<String>;

    /// Returns the first line of a file, trimmed; `None` if it is empty.
    fn line(&self, path: &str) -> Option<String> {
        let text = self.text(path)?;
        let line = text.lines().next()?.trim();
        (!line.is_empty()).then(|| line.to_owned())
    }

    /// Parses a file that contains a single number.
    fn number(&self, path: &str) -> Option<u64> {
        self.line(path)?.parse().ok()
    }
}

/// The files of this machine.
#[derive(Debug, Clone, Copy)]
pub struct RealFiles;

impl SystemFiles for RealFiles {
    fn text(&self, path: &str) -> Option<String> {
        // Names of programs need not be UTF-8.
        let bytes = fs::read(path).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }

    fn names(&self, directory: &str) -> Vec<String> {
        let entries = fs::read_dir(directory).into_iter().flatten();
        let mut names: Vec<String> = entries
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .collect();
        names.sort();
        names
    }
}

/// Parses a list such as `0-3,8`; `None` if it is invalid.
pub(super) fn parse_number_list(list: &str) -> Option<Vec<u32>> {
    /// Numbers must be below this limit, which keeps an invalid list from exhausting the memory. No machine has that many processors.
    const MOST: u32 = 1 << 16;
    let mut found = Vec::new();
    for part in list
        .trim()
        .split(',')
        .map(str::trim)
        .filter(|part| !part.is_empty())
    {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
        if last >= MOST {
            return None;
        }
        found.extend(first..=last);
    }
    Some(found)
}

/// Returns the first value for `name` in lines of the form `name: value`.
pub(super) fn field<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    text.lines()
        .filter_map(|line| line.split_once(':'))
        .find(|(key, _)| key.trim() == name)
        .map(|(_, value)| value.trim())
}

#[cfg(test)]
pub(super) mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// The texts of a test, by path.
    pub(in super::super) struct TestFiles(BTreeMap<&'static str, &'static str>);

    impl TestFiles {
        pub(in super::super) fn from_texts<const N: usize>(
            texts: [(&'static str, &'static str); N],
        ) -> Self {
            Self(texts.into_iter().collect())
        }
    }

    impl SystemFiles for TestFiles {
        fn text(&self, path: &str) -> Option<String> {
            self.0.get(path).map(|text| (*text).to_owned())
        }

        fn names(&self, directory: &str) -> Vec<String> {
            let below = |path: &&'static str| {
                let rest = path.strip_prefix(directory)?.strip_prefix('/')?;
                Some(rest.split('/').next()?.to_owned())
            };
            let mut names: Vec<String> = self.0.keys().filter_map(below).collect();
            names.dedup();
            names
        }
    }

    #[test]
    fn a_list_of_processors_is_numbers_and_ranges_and_anything_else_is_none() {
        assert_eq!(parse_number_list("0-3,8\n"), Some(vec![0, 1, 2, 3, 8]));
        assert_eq!(parse_number_list(" 5 "), Some(vec![5]));
        assert_eq!(parse_number_list("\n"), Some(vec![]));
        assert_eq!(parse_number_list("a-b"), None);
        assert_eq!(parse_number_list("0-4000000000"), None);
    }

    #[test]
    fn what_cannot_be_read_is_nothing() {
        assert_eq!(RealFiles.text("/no such directory/file"), None);
        assert_eq!(RealFiles.names("/no such directory"), [""; 0]);
        let texts = TestFiles::from_texts([("/a/b", "\n"), ("/a/c", "12\n"), ("/a/d/e", "x")]);
        assert_eq!(texts.line("/a/b"), None);
        assert_eq!(texts.number("/a/c"), Some(12));
        assert_eq!(texts.number("/a/d/e"), None);
        assert_eq!(texts.names("/a"), ["b", "c", "d"]);
    }
}
