//! Benchmark ids: `group[/function][/parameter]`.

use std::fmt::Display;

/// The id of a benchmark within its group.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct BenchmarkId {
    pub(crate) function: Option<String>,
    pub(crate) parameter: Option<String>,
}

impl BenchmarkId {
    /// Creates the id `function/parameter`.
    pub fn new<S: Into<String>, P: Display>(function_name: S, parameter: P) -> Self {
        Self {
            function: Some(function_name.into()),
            parameter: Some(parameter.to_string()),
        }
    }

    /// Creates the id `parameter`.
    pub fn from_parameter<P: Display>(parameter: P) -> Self {
        Self {
            function: None,
            parameter: Some(parameter.to_string()),
        }
    }

    /// Creates an empty id: the group's name is the whole id.
    pub(crate) fn group_only() -> Self {
        Self {
            function: None,
            parameter: None,
        }
    }

    /// Returns the full id within `group`.
    pub(crate) fn full_id(&self, group: &str) -> String {
        let mut id = group.to_owned();
        for part in [&self.function, &self.parameter].into_iter().flatten() {
            id.push('/');
            id.push_str(part);
        }
        id
    }
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::BenchmarkId {}
    impl<S: Into<String>> Sealed for S {}
}

/// Values that a group accepts as an id: a [`BenchmarkId`], or the name of a function.
pub trait IntoBenchmarkId: sealed::Sealed {
    /// Converts the value into an id.
    fn into_benchmark_id(self) -> BenchmarkId;
}

impl IntoBenchmarkId for BenchmarkId {
    fn into_benchmark_id(self) -> BenchmarkId {
        self
    }
}

impl<S: Into<String>> IntoBenchmarkId for S {
    fn into_benchmark_id(self) -> BenchmarkId {
        BenchmarkId {
            function: Some(self.into()),
            parameter: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_has_the_parts_that_there_are() {
        assert_eq!(BenchmarkId::new("f", 5).full_id("g"), "g/f/5");
        assert_eq!(BenchmarkId::from_parameter(5).full_id("g"), "g/5");
        assert_eq!(BenchmarkId::group_only().full_id("g"), "g");
        assert_eq!("f".into_benchmark_id().full_id("g"), "g/f");
        assert_eq!(String::from("f").into_benchmark_id().full_id("g"), "g/f");
    }
}
