//! The configuration options of a build, which decide what `#[cfg(..)]` leaves out of a crate.

use cargo_metadata::cargo_platform::{Cfg, CfgExpr, Ident};

/// The options that only the target decides.
const TARGET_OPTIONS: [&str; 12] = [
    "target_abi",
    "target_arch",
    "target_endian",
    "target_env",
    "target_family",
    "target_feature",
    "target_has_atomic",
    "target_os",
    "target_pointer_width",
    "target_vendor",
    "unix",
    "windows",
];
/// The options that are not set in an ordinary build of a library or a binary.
const UNSET_OPTIONS: [&str; 4] = ["doc", "doctest", "miri", "test"];

/// The known configuration options of a package. Others may be set as well: by the profile, by the package's build script, or by flags.
#[derive(Debug, Clone, Default)]
pub struct CfgOptions {
    set: Vec<Cfg>,
    knows_features: bool,
}

impl CfgOptions {
    /// Parses the output of `rustc --print cfg`, which has the options of the target.
    pub(super) fn parse(printed: &str) -> Self {
        let options = printed.lines().filter_map(|line| line.parse::<Cfg>().ok());
        let of_target = options.filter(|option| TARGET_OPTIONS.contains(&name_of_option(option)));
        Self {
            set: of_target.collect(),
            knows_features: false,
        }
    }

    /// Adds all features with which the package was built.
    #[must_use]
    pub fn with_features<'f>(&self, features: impl IntoIterator<Item = &'f String>) -> Self {
        let option = |feature: &String| {
            let key = Ident {
                name: "feature".to_owned(),
                raw: false,
            };
            Cfg::KeyPair(key, feature.clone())
        };
        let mut options = self.clone();
        options.set.extend(features.into_iter().map(option));
        options.knows_features = true;
        options
    }

    /// Returns the value of a predicate of `cfg`, such as `all(unix, feature = "std")`. Returns `None` if it depends on unknown options.
    pub fn evaluate(&self, predicate: &str) -> Option<bool> {
        self.evaluate_parsed(&predicate.parse().ok()?)
    }

    fn evaluate_parsed(&self, predicate: &CfgExpr) -> Option<bool> {
        match predicate {
            CfgExpr::Not(inner) => self.evaluate_parsed(inner).map(|value| !value),
            CfgExpr::All(parts) => self.evaluate_list(parts, false),
            CfgExpr::Any(parts) => self.evaluate_list(parts, true),
            CfgExpr::Value(option) if self.set.contains(option) => Some(true),
            CfgExpr::Value(option) => self.is_known(option).then_some(false),
            CfgExpr::True => Some(true),
            CfgExpr::False => Some(false),
        }
    }

    /// Returns the value of `all`, which one false part decides, or of `any`, which one true part decides.
    fn evaluate_list(&self, parts: &[CfgExpr], decisive: bool) -> Option<bool> {
        let values: Vec<Option<bool>> = parts
            .iter()
            .map(|part| self.evaluate_parsed(part))
            .collect();
        if values.contains(&Some(decisive)) {
            return Some(decisive);
        }
        (!values.contains(&None)).then_some(!decisive)
    }

    /// Reports whether it is known that the option is set or not.
    fn is_known(&self, option: &Cfg) -> bool {
        let name = name_of_option(option);
        TARGET_OPTIONS.contains(&name)
            || UNSET_OPTIONS.contains(&name)
            || name == "feature" && self.knows_features
    }
}

fn name_of_option(option: &Cfg) -> &str {
    match option {
        Cfg::Name(name) | Cfg::KeyPair(name, _) => name.as_str(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Output of `rustc --print cfg` on Linux, shortened.
    const LINUX: &str = "debug_assertions\npanic=\"unwind\"\ntarget_arch=\"x86_64\"\ntarget_feature=\"sse2\"\ntarget_has_atomic\n\
        target_has_atomic=\"64\"\ntarget_os=\"linux\"\nunix\n";

    #[test]
    fn a_predicate_has_a_value_only_if_all_options_that_decide_it_are_known() {
        let target = CfgOptions::parse(LINUX);
        let with_features = target.with_features(&["std".to_owned()]);
        let (yes, no) = (Some(true), Some(false));
        for (predicate, expected, expected_with_features) in [
            ("unix", yes, yes),
            ("windows", no, no),
            ("not (unix)", no, no),
            ("target_os = \"linux\"", yes, yes),
            ("target_os = \"macos\"", no, no),
            ("target_feature = \"avx512f\"", no, no),
            ("target_has_atomic = \"128\"", no, no),
            ("test", no, no),
            ("not (test)", yes, yes),
            ("any (test , doc)", no, no),
            ("any ()", no, no),
            ("all ()", yes, yes),
            ("false", no, no),
            ("feature = \"std\"", None, yes),
            ("feature = \"simd\"", None, no),
            ("not (feature = \"std\")", None, no),
            ("any (windows , feature = \"simd\")", None, no),
            ("all (unix , feature = \"simd\" ,)", None, no),
            // The profile, a build script or a flag may set them or not.
            ("debug_assertions", None, None),
            ("not (debug_assertions)", None, None),
            ("panic = \"abort\"", None, None),
            ("loom", None, None),
            ("not (loom)", None, None),
            ("all (loom , windows)", no, no),
            ("any (loom , windows)", None, None),
            ("any (loom , unix)", yes, yes),
            ("target_os = r\"macos\"", None, None),
            ("version (\"1.90\")", None, None),
        ] {
            assert_eq!(target.evaluate(predicate), expected, "{predicate}");
            assert_eq!(
                with_features.evaluate(predicate),
                expected_with_features,
                "{predicate}"
            );
        }
    }
}
