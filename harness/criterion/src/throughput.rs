//! The throughput of a benchmark, and its conversion to the harness's type.

/// The amount that one iteration of a benchmark processes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Throughput {
    /// Number of bits.
    Bits(u64),
    /// Number of bytes.
    Bytes(u64),
    /// Number of bytes, shown in powers of 1000. The same as [`Bytes`](Self::Bytes) here, which are shown in this way too.
    BytesDecimal(u64),
    /// Number of elements: lines, values, requests.
    Elements(u64),
    /// Both elements and bytes.
    ElementsAndBytes {
        /// Number of elements.
        elements: u64,
        /// Number of bytes.
        bytes: u64,
    },
}

impl Throughput {
    /// Converts to the type that `cargo perfcheck` knows. Bits are converted to bytes if they are divisible by 8, and are unknown otherwise.
    pub(crate) fn to_perfcheck(&self) -> perfcheck::Throughput {
        match *self {
            Self::Bits(bits) if bits % 8 == 0 => perfcheck::Throughput::bytes(bits / 8),
            Self::Bits(_) => perfcheck::Throughput::default(),
            Self::Bytes(bytes) | Self::BytesDecimal(bytes) => perfcheck::Throughput::bytes(bytes),
            Self::Elements(elements) => perfcheck::Throughput::elements(elements),
            Self::ElementsAndBytes { elements, bytes } => {
                perfcheck::Throughput::elements(elements).and_bytes(bytes)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_variant_is_known_but_bits_that_fill_no_byte() {
        let bytes = perfcheck::Throughput::bytes(8);
        assert_eq!(Throughput::Bits(64).to_perfcheck(), bytes);
        assert_eq!(
            Throughput::Bits(65).to_perfcheck(),
            perfcheck::Throughput::default()
        );
        assert_eq!(Throughput::Bytes(8).to_perfcheck(), bytes);
        assert_eq!(Throughput::BytesDecimal(8).to_perfcheck(), bytes);
        let elements = perfcheck::Throughput::elements(3);
        assert_eq!(Throughput::Elements(3).to_perfcheck(), elements);
        let both = Throughput::ElementsAndBytes {
            elements: 3,
            bytes: 8,
        };
        assert_eq!(both.to_perfcheck(), elements.and_bytes(8));
    }
}
