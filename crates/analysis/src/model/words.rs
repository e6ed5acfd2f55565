//! Enums whose variants are words: in what people write and read, in messages and in the store.

/// Words with what they mean.
pub type Words = &'static [(&'static str, &'static str)];

/// An enum whose variants are words; what each of them means is its documentation and the help of a flag.
macro_rules! words {
    ($(#[$attribute:meta])+ $name:ident { $($(#[$of_variant:meta])* $variant:ident = $word:literal: $help:literal,)+ }) => {
        $(#[$attribute])+
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
        )]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        pub enum $name {
            $(#[doc = $help] $(#[$of_variant])* #[serde(rename = $word)] $variant,)+
        }

        impl $name {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$variant,)+];

            /// The word.
            pub fn word(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }

            /// Each word with what it means, for the help of a flag.
            pub const WORDS: $crate::model::Words = &[$(($word, $help),)+];
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.word())
            }
        }

        impl std::str::FromStr for $name {
            type Err = String;

            fn from_str(text: &str) -> Result<Self, String> {
                let mut all = Self::ALL.iter().copied();
                all.find(|one| one.word() == text).ok_or_else(|| {
                    let words: Vec<&str> = Self::ALL.iter().map(|one| one.word()).collect();
                    format!("`{text}` is none of {}", words.join(", "))
                })
            }
        }
    };
}
pub(crate) use words;
