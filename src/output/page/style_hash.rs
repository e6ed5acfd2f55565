//! The hash of a text in the notation of a content security policy. Only tests use it.

use sha2::{Digest, Sha256};

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

pub(super) fn csp_hash(text: &str) -> String {
    let mut digest = Sha256::digest(text).to_vec();
    // 32 bytes are ten triples and two bytes.
    digest.push(0);
    let digits = digest.chunks(3).flat_map(|triple| {
        let number = triple
            .iter()
            .fold(0_u32, |sum, byte| sum << 8 | u32::from(*byte));
        [18, 12, 6, 0].map(|shift| char::from(DIGITS[(number >> shift & 63) as usize]))
    });
    format!("sha256-{}=", digits.take(43).collect::<String>())
}
