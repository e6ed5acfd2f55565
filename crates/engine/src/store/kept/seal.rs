//! The seal of a record: a keyed BLAKE3 hash over every byte that says what is run and how.
//!
//! BLAKE3's keyed mode is a MAC (The BLAKE3 paper, O'Connor et al., 2020, section 2.3). Every part is preceded by its
//! length, so that no two sequences of parts are the same bytes.

use blake3::Hasher;

use perfcheck_analysis::model::Secret;

const RECORD: &[u8] = b"cargo-perfcheck kept executable, version 1";
const ORIGIN: &[u8] = b"cargo-perfcheck origin, version 1";
const ORIGIN_BYTES: usize = 16;

/// The MAC of a record's facts, made on this machine.
pub(super) fn mac(secret: &Secret, facts: &str) -> [u8; 32] {
    *keyed(
        secret,
        &[RECORD, secret.machine().as_bytes(), facts.as_bytes()],
    )
    .as_bytes()
}

/// Whether `found` is the MAC of these facts. Takes the same time wherever they differ.
pub(super) fn is_sealed(secret: &Secret, facts: &str, found: &[u8]) -> bool {
    let expected = blake3::Hash::from_bytes(mac(secret, facts));
    <[u8; 32]>::try_from(found).is_ok_and(|found| expected == blake3::Hash::from_bytes(found))
}

/// Stands for the secret and the machine without telling either: what is recorded elsewhere is told from what was
/// changed. It decides about words alone.
pub(super) fn origin(secret: &Secret) -> [u8; ORIGIN_BYTES] {
    let hash = keyed(secret, &[ORIGIN, secret.machine().as_bytes()]);
    let mut origin = [0; ORIGIN_BYTES];
    origin.copy_from_slice(&hash.as_bytes()[..ORIGIN_BYTES]);
    origin
}

fn keyed(secret: &Secret, parts: &[&[u8]]) -> blake3::Hash {
    let mut hasher = Hasher::new_keyed(secret.key());
    for part in parts {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    hasher.finalize()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seal_depends_on_key_machine_and_facts() {
        let secret = |key: u8, machine: &str| Secret::new([key; 32], machine.to_owned());
        let seal = mac(&secret(1, "a"), "facts");
        assert!(is_sealed(&secret(1, "a"), "facts", &seal));
        assert!(!is_sealed(&secret(2, "a"), "facts", &seal));
        assert!(!is_sealed(&secret(1, "b"), "facts", &seal));
        assert!(!is_sealed(&secret(1, "a"), "fact", &seal));
        assert!(!is_sealed(&secret(1, "a"), "facts", &seal[..31]));
        assert!(!is_sealed(&secret(1, "a"), "facts", &[]));
        // Where a part ends is part of what is sealed.
        assert!(!is_sealed(&secret(1, "af"), "acts", &seal));
        assert_ne!(origin(&secret(1, "a")), origin(&secret(1, "b")));
        assert_ne!(origin(&secret(1, "a")), origin(&secret(2, "a")));
    }
}
