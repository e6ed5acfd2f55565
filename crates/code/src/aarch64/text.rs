//! Writes 64-bit ARM instructions as text. A placeholder stands for each address.

use std::collections::HashMap;
use yaxpeax_arch::{Decoder, U8Reader};
use yaxpeax_arm::armv8::a64::InstDecoder;

use super::addresses::{decode, words};
use super::instruction::{Instruction, PAGE, SIZE, rd, rn};
use crate::decoded::{AccessSize, InstructionText, TARGET, UnitBody, UnitCode};

/// Returns the instructions of a unit in the syntax of assemblers. Where a linker has replaced `adrp` and `add` by `nop` and `adr`, the list has
/// `adrp` and `add`, so that the text does not depend on where the linker put the code.
pub(crate) fn list(code: &UnitCode<'_>) -> Vec<InstructionText> {
    let body = decode(code);
    let references: HashMap<usize, (u64, AccessSize)> = body
        .references
        .iter()
        .map(|one| (one.at as usize / 4, (one.target, one.extent)))
        .collect();
    let lines = words(code).into_iter().enumerate().map(|(at, word)| {
        let address = code.start.wrapping_add(SIZE * at as u64);
        let masked = word_at(&body.masked, at);
        let Some(word) = word else {
            return InstructionText {
                address,
                text: number(masked),
                target: None,
                is_call: false,
            };
        };
        let mut target = references.get(&at).copied();
        let text = match (Instruction::decode(masked, address), target) {
            (Instruction::Page { .. }, _) => {
                target = Some(page_target(&body, at, word, address));
                format!("adrp x{}, {TARGET}", rd(masked))
            }
            (Instruction::Add { .. }, Some(_)) => {
                format!("add x{}, x{}, :lo12:{TARGET}", rd(masked), rn(masked))
            }
            (Instruction::Access(_), Some(_)) => {
                let text = format_word(masked);
                let operation = text.split('[').next().unwrap_or_default();
                format!("{operation}[x{}, :lo12:{TARGET}]", rn(masked))
            }
            _ => {
                target = target.or_else(|| own_target(word, address));
                let text = format_word(word);
                match target {
                    Some(_) => format!("{}{TARGET}", before_last_operand(&text)),
                    None => text,
                }
            }
        };
        let is_call = masked & 0xfc00_0000 == 0x9400_0000;
        InstructionText {
            address,
            text,
            target,
            is_call,
        }
    });
    lines.collect()
}

fn word_at(bytes: &[u8], at: usize) -> u32 {
    let word = bytes.get(4 * at..4 * at + 4);
    let word = word.and_then(|word| word.try_into().ok());
    word.map_or(0, u32::from_le_bytes)
}

/// Returns the address for which the `adrp` at index `at` makes a page. It is the address in the next instruction that uses this page.
fn page_target(body: &UnitBody, at: usize, word: u32, address: u64) -> (u64, AccessSize) {
    let page = match Instruction::decode(word, address) {
        Instruction::Page { page } => Some(page),
        // This is a `nop` before an `adr`, which is listed as `adrp`.
        _ => None,
    };
    let mut later = body.references.iter();
    let used = later.find(|one| {
        let is_later = one.at as usize / 4 > at;
        is_later && page.is_none_or(|page| one.target & !(PAGE - 1) == page)
    });
    let used = used.map(|one| (one.target, one.extent));
    used.unwrap_or((page.unwrap_or(address), AccessSize::Open))
}

/// Returns the address that an instruction contains, which is in its own unit.
fn own_target(word: u32, address: u64) -> Option<(u64, AccessSize)> {
    match Instruction::decode(word, address) {
        Instruction::Branch { target, .. } | Instruction::Address { target } => {
            Some((target, AccessSize::Open))
        }
        Instruction::LoadLiteral { target, size } => Some((target, AccessSize::Exact(size))),
        _ => None,
    }
}

/// Returns the text without its last operand.
fn before_last_operand(text: &str) -> &str {
    let end = text.rfind(", ").map(|at| at + 2);
    let end = end.or_else(|| text.find(' ').map(|at| at + 1));
    &text[..end.unwrap_or(text.len())]
}

fn format_word(word: u32) -> String {
    let bytes = word.to_le_bytes();
    let instruction = InstDecoder::default().decode(&mut U8Reader::new(&bytes));
    instruction.map_or_else(|_| number(word), |instruction| instruction.to_string())
}

/// Formats a word that is data or an unknown instruction.
fn number(word: u32) -> String {
    format!(".word {word:#010x}")
}
