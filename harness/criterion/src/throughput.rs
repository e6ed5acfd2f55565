//! What one iteration processes, in Criterion's words and in ours.

/// What one iteration of a benchmark processes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Throughput {
    /// So many bits.
    Bits(u64),
    /// So many bytes.
    Bytes(u64),
    /// So many bytes, shown in powers of 1000. Here as [`Bytes`](Self::Bytes), which are shown so too.
    BytesDecimal(u64),
    /// So many elements: lines, values, requests.
    Elements(u64),
    /// Both.
    ElementsAndBytes {
        /// So many elements.
        elements: u64,
        /// So many bytes.
        bytes: u64,
    },
}

impl Throughput {
    /// In terms of what `cargo perfcheck` knows: bits are bytes where they fill them.
    pub(crate) fn known(&self) -> perfcheck::Throughput {
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
        assert_eq!(Throughput::Bits(64).known(), bytes);
        assert_eq!(
            Throughput::Bits(65).known(),
            perfcheck::Throughput::default()
        );
        assert_eq!(Throughput::Bytes(8).known(), bytes);
        assert_eq!(Throughput::BytesDecimal(8).known(), bytes);
        let elements = perfcheck::Throughput::elements(3);
        assert_eq!(Throughput::Elements(3).known(), elements);
        let both = Throughput::ElementsAndBytes {
            elements: 3,
            bytes: 8,
        };
        assert_eq!(both.known(), elements.and_bytes(8));
    }
}
