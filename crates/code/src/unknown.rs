//! Why the machine code of an executable cannot be compared.

/// Nothing is known of the machine code, for this reason.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unknown {
    /// It is an executable for another processor or system.
    #[error("machine code is compared for x86-64 ELF executables alone")]
    Format,
    /// Addresses are constants in its code, which nothing tells apart from numbers.
    #[error("it is not position-independent")]
    FixedAddresses,
    /// Its functions have no names.
    #[error("its symbols are stripped (`strip = false` in the profile keeps them)")]
    Stripped,
    /// The linker wrote something that is not understood.
    #[error("its {0} are not understood")]
    Feature(&'static str),
    /// It contradicts itself.
    #[error("it is damaged: {0}")]
    Damaged(String),
}

impl From<object::Error> for Unknown {
    fn from(error: object::Error) -> Self {
        Self::Damaged(error.to_string())
    }
}
