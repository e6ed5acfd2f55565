//! Reads the dependencies from the manifests of crates.

/// Returns the names of a manifest's `[dependencies]`, as spelled in code.
pub fn dependencies(manifest: &str) -> Vec<String> {
    manifest
        .lines()
        .skip_while(|line| *line != "[dependencies]")
        .skip(1)
        .take_while(|line| !line.starts_with('['))
        .filter_map(|line| {
            line.split_once('=')
                .map(|(name, _)| name.trim().replace('-', "_"))
        })
        .collect()
}

mod tests {
    use super::dependencies;

    #[test]
    fn dependencies_are_read_from_the_manifest() {
        let manifest = "[package]\nname = \"x\"\n[dependencies]\na-b = \"1\"\nc = { version = \"1\" }\n\n[dev-dependencies]\nd = \"1\"\n";
        assert_eq!(dependencies(manifest), ["a_b", "c"]);
    }
}
