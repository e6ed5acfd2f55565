//! Enums whose variants have a word each, used in command lines, messages and stores. The macros are for the crates of this workspace only.

/// Pairs of a word and its meaning.
pub type WordMeanings = &'static [(&'static str, &'static str)];

/// Defines an enum whose variants have a word each. If the second argument, the refusal, is given, the enum can also be parsed. The refusal is the
/// part of the error message between the rejected text and the list of all words.
#[doc(hidden)]
#[macro_export]
macro_rules! worded {
    ($(#[$attribute:meta])+ $name:ident $(, $refusal:literal)? { $($(#[$of_variant:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$attribute])+
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name {
            $($(#[$of_variant])* $variant,)+
        }

        impl $name {
            /// All variants.
            pub const ALL: &[Self] = &[$(Self::$variant,)+];

            /// Returns the word of the variant.
            pub fn word(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.word())
            }
        }

        $(impl std::str::FromStr for $name {
            type Err = String;

            fn from_str(text: &str) -> Result<Self, String> {
                let mut all = Self::ALL.iter().copied();
                all.find(|one| one.word() == text).ok_or_else(|| {
                    let words: Vec<&str> = Self::ALL.iter().map(|one| one.word()).collect();
                    format!("`{text}` {} {}", $refusal, words.join(", "))
                })
            }
        })?
    };
}

/// Defines an enum whose variants have a word each, and serializes it by these words. The meaning of each word becomes its documentation and the
/// help of a flag.
#[doc(hidden)]
#[macro_export]
macro_rules! words {
    ($(#[$attribute:meta])+ $name:ident { $($(#[$of_variant:meta])* $variant:ident = $word:literal: $help:literal,)+ }) => {
        $crate::worded! {
            $(#[$attribute])+
            #[derive(serde::Serialize, serde::Deserialize)]
            #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
            $name, "is not one of" {
                $(#[doc = $help] $(#[$of_variant])* #[serde(rename = $word)] $variant = $word,)+
            }
        }

        impl $name {
            /// Each word with its meaning, for the help of a flag.
            pub const WORDS: $crate::WordMeanings = &[$(($word, $help),)+];
        }
    };
}
