//! Readable names of functions, without the parts that depend on the build.

/// Returns the name without hashes. Instances of a generic function may share one.
pub fn readable_name(symbol: &str) -> String {
    // A compiler that moves functions between codegen units appends numbers.
    let mut symbol = symbol.split(".llvm.").next().unwrap_or(symbol);
    while let Some((rest, number)) = symbol.rsplit_once('.')
        && !number.is_empty()
        && number.bytes().all(|byte| byte.is_ascii_digit())
    {
        symbol = rest;
    }
    format!("{:#}", rustc_demangle::demangle(symbol))
}

#[cfg(test)]
mod tests {
    use super::readable_name;

    #[test]
    fn hashes_and_numbers_of_units_are_no_part_of_a_name() {
        assert_eq!(
            readable_name("_ZN5words4scan17h0123456789abcdefE.llvm.17524289698165623984"),
            "words::scan"
        );
        assert_eq!(
            readable_name("_RNvCs15kBYyAo9fc_7mycrate7example"),
            "mycrate::example"
        );
        assert_eq!(
            readable_name("_ZN4core3fmt5write17h0123456789abcdefE.4138"),
            "core::fmt::write"
        );
        assert_eq!(readable_name("memcpy"), "memcpy");
    }
}
