//! Enums whose variants are words: in what people write and read, in messages and in stores. The macros are for the crates of this workspace alone.

/// Words with what they mean.
pub type Words = &'static [(&'static str, &'static str)];

/// An enum whose variants have a word each. With what is said of a text that is none of them, before they are listed, it can be read as well.
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
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$variant,)+];

            /// The word.
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

/// An enum whose variants are words, also where it is stored; what each of them means is its documentation and the help of a flag.
#[doc(hidden)]
#[macro_export]
macro_rules! words {
    ($(#[$attribute:meta])+ $name:ident { $($(#[$of_variant:meta])* $variant:ident = $word:literal: $help:literal,)+ }) => {
        $crate::worded! {
            $(#[$attribute])+
            #[derive(serde::Serialize, serde::Deserialize)]
            #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
            $name, "is none of" {
                $(#[doc = $help] $(#[$of_variant])* #[serde(rename = $word)] $variant = $word,)+
            }
        }

        impl $name {
            /// Each word with what it means, for the help of a flag.
            pub const WORDS: $crate::Words = &[$(($word, $help),)+];
        }
    };
}
