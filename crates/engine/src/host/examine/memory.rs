//! Reads the state of memory: total, available, swap, huge pages. Fields are those of `proc_meminfo(5)`.

use super::files::{SystemFiles, field};
use perfcheck_analysis::model::MemoryState;

/// Reads the state of memory.
pub(super) fn memory(files: &dyn SystemFiles) -> MemoryState {
    let text = files.text("/proc/meminfo").unwrap_or_default();
    let bytes = |name| {
        let kib: u64 = field(&text, name)?
            .strip_suffix("kB")?
            .trim()
            .parse()
            .ok()?;
        kib.checked_mul(1024)
    };
    let swap = bytes("SwapTotal");
    MemoryState {
        total_bytes: bytes("MemTotal"),
        available_bytes: bytes("MemAvailable"),
        swap_bytes: swap,
        swap_used_bytes: swap
            .zip(bytes("SwapFree"))
            .map(|(total, free)| total.saturating_sub(free)),
        huge_pages: files
            .line("/sys/kernel/mm/transparent_hugepage/enabled")
            .and_then(|line| bracketed_word(&line)),
    }
}

/// Returns the word in brackets.
fn bracketed_word(line: &str) -> Option<String> {
    let (_, rest) = line.split_once('[')?;
    let (word, _) = rest.split_once(']')?;
    Some(word.to_owned())
}

#[cfg(test)]
mod tests {
    use super::super::files::tests::TestFiles;
    use super::*;

    #[test]
    fn sizes_are_bytes_and_used_swap_is_what_is_not_free() {
        let texts = TestFiles::from_texts([
            (
                "/proc/meminfo",
                "MemTotal:       1000 kB\nMemAvailable:    250 kB\nSwapTotal:  64 kB\nSwapFree:  60 kB\nHugePages_Total:       0\n",
            ),
            (
                "/sys/kernel/mm/transparent_hugepage/enabled",
                "always [madvise] never\n",
            ),
        ]);
        let expected = MemoryState {
            total_bytes: Some(1_024_000),
            available_bytes: Some(256_000),
            swap_bytes: Some(65_536),
            swap_used_bytes: Some(4096),
            huge_pages: Some("madvise".to_owned()),
        };
        assert_eq!(memory(&texts), expected);
        assert_eq!(memory(&TestFiles::from_texts([])), MemoryState::default());
    }

    #[test]
    fn a_size_that_is_none_is_unknown() {
        let texts = TestFiles::from_texts([(
            "/proc/meminfo",
            "MemTotal: much kB\nSwapTotal: 18446744073709551615 kB\n",
        )]);
        assert_eq!(memory(&texts), MemoryState::default());
    }
}
