//! Reasons why the machine code of an executable cannot be compared.

/// The reason why nothing is known of the machine code.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnsupportedExecutable {
    /// The executable is for another processor or system.
    #[error("machine code is compared for x86-64 ELF executables alone")]
    Format,
    /// Its code contains absolute addresses, which cannot be distinguished from numbers.
    #[error("it is not position-independent")]
    FixedAddresses,
    /// Its functions have no names.
    #[error("its symbols are stripped (`strip = false` in the profile keeps them)")]
    Stripped,
    /// It uses a feature of the linker that is not supported.
    #[error("its {0} are not understood")]
    Feature(&'static str),
    /// Its contents are inconsistent.
    #[error("it is damaged: {0}")]
    Damaged(String),
}

impl From<object::Error> for UnsupportedExecutable {
    fn from(error: object::Error) -> Self {
        Self::Damaged(error.to_string())
    }
}
