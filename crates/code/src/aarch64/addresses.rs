//! Finds the addresses in the code of a unit. First it follows the values of the registers along all paths until nothing changes any more. Then it
//! goes through the instructions again and collects the addresses that these values show.
//!
//! A path begins at the entry of the unit. If no branch of the unit leads to some code, that code is entered through a jump to an address in a
//! register, or by the unwinder after a call. At its start, the registers may have the values from any such jump or call of the unit. Some paths are
//! followed although no program takes them, for example past a call that never returns. All that such a path can do is to make addresses unknown.

use std::collections::BTreeSet;

use super::instruction::{
    BranchKind, IMM12, IMM19, IMM21, Instruction, MemoryAccess, NOP, PAGE, SIZE, bits, rd, rn,
};
use super::registers::{RegisterUse, RegisterValue, Registers, one};
use crate::decoded::{AccessSize, AddressReference, Entrance, UnitBody, UnitCode};

/// Decodes the code of a unit, and collects the addresses in it.
pub(crate) fn decode(code: &UnitCode<'_>) -> UnitBody {
    let unit = UnitBlocks::new(code);
    let mut found = FoundAddresses::new(code);
    for (block, registers) in unit.follow_registers().into_iter().enumerate() {
        let mut registers = registers;
        for at in unit.instructions_of(block) {
            unit.collect(at, &registers, &mut found);
            unit.step(at, &mut registers);
        }
    }
    found.finish()
}

/// Returns true if a unit never returns: it has no return and no branch out of the unit, and its last instruction does not go on to what follows the
/// unit. A call at the very end counts as a call that never returns.
pub(crate) fn is_endless(code: &UnitCode<'_>) -> bool {
    let mut is_end = false;
    for (word, at) in words(code).into_iter().zip(0_u64..) {
        let address = code.start.wrapping_add(SIZE * at);
        let instruction = word.map(|word| Instruction::decode(word, address));
        is_end = match instruction {
            Some(Instruction::Return | Instruction::Jump | Instruction::UnknownBranch) => {
                return false;
            }
            Some(Instruction::Branch { target, kind, .. }) => {
                if kind != BranchKind::Call && !code.contains(target) {
                    return false;
                }
                kind != BranchKind::Conditional
            }
            Some(Instruction::End | Instruction::CallRegister) => true,
            // A `nop` is padding.
            Some(_) if word == Some(NOP) => is_end,
            _ => false,
        };
    }
    is_end
}

/// Returns true if the last instruction of a unit is none that ends a path.
pub(crate) fn goes_on(code: &UnitCode<'_>) -> bool {
    let last = words(code).into_iter().zip(0_u64..).last();
    let is_whole = code.bytes.len() as u64 == code.end - code.start;
    let ends = last.is_some_and(|(word, at)| {
        let address = code.start.wrapping_add(SIZE * at);
        // Data do not go on.
        word.is_none_or(|word| {
            matches!(
                Instruction::decode(word, address),
                Instruction::Jump
                    | Instruction::Return
                    | Instruction::End
                    | Instruction::Branch {
                        kind: BranchKind::Always,
                        ..
                    }
            )
        })
    });
    !(is_whole && ends)
}

/// Returns the length of the code without the instructions at its end that only fill up space (`nop` and zeros). Returns the whole length if there is
/// nothing else.
pub(crate) fn length_without_padding(bytes: &[u8]) -> usize {
    let mut words = bytes.chunks_exact(SIZE as usize);
    let fills = |word: &[u8]| word == NOP.to_le_bytes() || word == [0_u8; 4];
    let last = words.rposition(|word| !fills(word));
    last.map_or(bytes.len(), |last| SIZE as usize * (last + 1))
}

/// The addresses that have been found in a unit so far.
struct FoundAddresses {
    body: UnitBody,
    /// The pages that `adrp` puts into registers, and the pages to which code adds an offset.
    made: BTreeSet<u64>,
    used: BTreeSet<u64>,
}

impl FoundAddresses {
    fn new(code: &UnitCode<'_>) -> Self {
        Self {
            body: UnitBody {
                masked: code.bytes.to_vec(),
                ..UnitBody::default()
            },
            made: BTreeSet::new(),
            used: BTreeSet::new(),
        }
    }

    fn finish(mut self) -> UnitBody {
        // If the unit never uses a page that it makes, code that it calls or jumps to may use the page.
        self.body.has_unknown_addresses |= !self.made.is_subset(&self.used);
        self.body
    }

    /// Replaces an instruction in the masked code.
    fn put(&mut self, at: usize, word: u32) {
        let bytes = word.to_le_bytes();
        self.body.masked[4 * at..4 * at + 4].copy_from_slice(&bytes);
    }

    fn refer(&mut self, at: usize, target: u64, extent: AccessSize) {
        self.body.references.push(AddressReference {
            at: 4 * at as u32,
            target,
            extent,
        });
    }

    fn derive(&mut self, at: usize, target: u64, extent: AccessSize) {
        self.body.derived.push(AddressReference {
            at: 4 * at as u32,
            target,
            extent,
        });
    }

    fn use_page(&mut self, at: usize, word: u32, page: u64, offset: u64, extent: AccessSize) {
        self.used.insert(page);
        self.put(at, word & !IMM12);
        self.refer(at, page.wrapping_add(offset), extent);
    }
}

/// The code of a unit, divided into blocks. A block is entered only at its first instruction, and left only after its last one.
struct UnitBlocks<'c> {
    code: &'c UnitCode<'c>,
    /// The instructions of the unit, with `None` for each word that is data.
    words: Vec<Option<u32>>,
    /// The index of the first instruction of each block, in ascending order. The last item is the number of all instructions.
    bounds: Vec<usize>,
}

impl<'c> UnitBlocks<'c> {
    fn new(code: &'c UnitCode<'c>) -> Self {
        let mut unit = Self {
            words: words(code),
            code,
            bounds: Vec::new(),
        };
        let mut bounds = BTreeSet::from([0, unit.words.len()]);
        for at in 0..unit.words.len() {
            match unit.instruction(at) {
                None => {
                    bounds.extend([at, at + 1]);
                }
                Some(Instruction::Branch { target, kind, .. }) => {
                    bounds.extend(unit.index(target));
                    if kind != BranchKind::Call || unit.never_returns(target) {
                        bounds.insert(at + 1);
                    }
                }
                Some(
                    Instruction::Jump
                    | Instruction::Return
                    | Instruction::End
                    | Instruction::UnknownBranch,
                ) => {
                    bounds.insert(at + 1);
                }
                Some(_) => {}
            }
        }
        unit.bounds = bounds.into_iter().collect();
        unit
    }

    fn address(&self, at: usize) -> u64 {
        self.code.start.wrapping_add(SIZE * at as u64)
    }

    fn instruction(&self, at: usize) -> Option<Instruction> {
        let word = self.words[at]?;
        Some(Instruction::decode(word, self.address(at)))
    }

    /// Returns true if `target` is a function outside the unit that never returns.
    fn never_returns(&self, target: u64) -> bool {
        !self.code.contains(target) && (self.code.entrance)(target) == Entrance::Endless
    }

    /// Returns the index of the instruction at an address of this unit.
    fn index(&self, address: u64) -> Option<usize> {
        let at = (address.wrapping_sub(self.code.start) / SIZE) as usize;
        (self.code.contains(address) && at < self.words.len()).then_some(at)
    }

    fn instructions_of(&self, block: usize) -> std::ops::Range<usize> {
        self.bounds[block]..self.bounds[block + 1]
    }

    fn block_at(&self, at: usize) -> Option<usize> {
        let block = self.bounds.binary_search(&at).ok()?;
        (block + 1 < self.bounds.len()).then_some(block)
    }

    /// Returns what is known of the registers at the start of each block.
    fn follow_registers(&self) -> Vec<Registers> {
        let blocks = self.bounds.len() - 1;
        let mut starts = vec![Registers::UNSET; blocks];
        let has_addresses = (0..self.words.len()).any(|at| {
            matches!(
                self.instruction(at),
                Some(Instruction::Address { .. } | Instruction::Page { .. })
            )
        });
        if blocks == 0 || !has_addresses {
            return starts;
        }
        starts[0] = Registers::at_entry();
        let mut is_visited = vec![false; blocks];
        is_visited[0] = true;
        let mut left = vec![0];
        // The blocks that no branch of the unit leads to, and what is known of the registers at their start.
        let mut entered = Vec::new();
        let mut elsewhere = Registers::UNSET;
        let mut next = 0;
        loop {
            let mut has_changed = false;
            while let Some(block) = left.pop() {
                let mut registers = starts[block];
                for at in self.instructions_of(block) {
                    has_changed |= match self.instruction(at) {
                        Some(Instruction::Jump) => elsewhere.join(&registers),
                        Some(
                            Instruction::CallRegister
                            | Instruction::Branch {
                                kind: BranchKind::Call,
                                ..
                            },
                        ) => elsewhere.join(&registers.kept_by_calls()),
                        _ => false,
                    };
                    self.step(at, &mut registers);
                }
                for to in self.successors(block) {
                    let is_new = !std::mem::replace(&mut is_visited[to], true);
                    if starts[to].join(&registers) || is_new {
                        left.push(to);
                    }
                }
            }
            if has_changed {
                let changed = entered.iter().copied();
                left.extend(changed.filter(|block: &usize| starts[*block].join(&elsewhere)));
                continue;
            }
            while is_visited.get(next) == Some(&true) {
                next += 1;
            }
            if next == blocks {
                return starts;
            }
            is_visited[next] = true;
            starts[next].join(&elsewhere);
            entered.push(next);
            left.push(next);
        }
    }

    /// Returns the blocks that may be entered right after `block`.
    fn successors(&self, block: usize) -> impl Iterator<Item = usize> {
        let range = self.instructions_of(block);
        let last = range.last().and_then(|at| self.instruction(at));
        let (target, goes_on) = match last {
            None
            | Some(
                Instruction::Jump
                | Instruction::Return
                | Instruction::End
                | Instruction::UnknownBranch,
            ) => (None, false),
            Some(Instruction::Branch {
                target,
                kind: BranchKind::Always,
                ..
            }) => (self.index(target), false),
            Some(Instruction::Branch {
                target,
                kind: BranchKind::Conditional,
                ..
            }) => (self.index(target), true),
            Some(Instruction::Branch { target, .. }) => (None, !self.never_returns(target)),
            Some(_) => (None, true),
        };
        let next = goes_on.then(|| self.bounds[block + 1]);
        let both = target.into_iter().chain(next);
        both.filter_map(|at| self.block_at(at))
    }

    /// Updates what is known of the registers for the instruction at index `at`.
    fn step(&self, at: usize, registers: &mut Registers) {
        let (Some(word), Some(instruction)) = (self.words[at], self.instruction(at)) else {
            return;
        };
        let base = registers.get(rn(word));
        let value = match instruction {
            Instruction::CallRegister
            | Instruction::Branch {
                kind: BranchKind::Call,
                ..
            } => {
                *registers = registers.after_call();
                return;
            }
            Instruction::Page { page } => RegisterValue::Page(page),
            Instruction::Address { target } if !self.code.contains(target) => address(target),
            Instruction::Add { by, can_use_page } => match base {
                RegisterValue::Page(page) if can_use_page => address(page.wrapping_add_signed(by)),
                base => sum(base, Some(by)),
            },
            Instruction::AddRegister { operands } => {
                let [one, other] = operands.map(|register| registers.get(register));
                other.plus(None).unwrap_or_else(|| sum(one, None))
            }
            Instruction::Copy => match registers.get(source_of_copy(word)) {
                RegisterValue::Page(_) | RegisterValue::Mixed => RegisterValue::Plain,
                RegisterValue::Stale => RegisterValue::Unset,
                value => value,
            },
            Instruction::Access(MemoryAccess {
                writeback: Some(by),
                ..
            }) => {
                registers.write(register_use(word), RegisterValue::Plain);
                if rn(word) != 31 {
                    registers.set(rn(word), sum(base, Some(by)));
                }
                return;
            }
            _ => RegisterValue::Plain,
        };
        registers.write(register_use(word), value);
    }

    /// Collects the addresses in the instruction at index `at`. `registers` is what is known before it.
    fn collect(&self, at: usize, registers: &Registers, found: &mut FoundAddresses) {
        let (Some(word), Some(instruction)) = (self.words[at], self.instruction(at)) else {
            return;
        };
        let base = registers.get(rn(word));
        let mut reads = register_use(word);
        match instruction {
            Instruction::Branch {
                target,
                field,
                kind,
            } if !self.code.contains(target) => {
                found.put(at, word & !field);
                found.refer(at, target, AccessSize::Open);
                let shares_registers = match (self.code.entrance)(target) {
                    Entrance::Function | Entrance::Endless => false,
                    Entrance::Outlined => true,
                    Entrance::Unknown => kind != BranchKind::Call,
                };
                found.body.has_unknown_addresses |= shares_registers && registers.have_page();
            }
            Instruction::UnknownBranch => found.body.has_unknown_addresses = true,
            Instruction::LoadLiteral { target, size } if !self.code.contains(target) => {
                found.put(at, word & !IMM19);
                found.refer(at, target, AccessSize::Exact(size));
            }
            Instruction::Address { target } if !self.code.contains(target) => {
                self.collect_short(at, word, target, found);
            }
            Instruction::Page { page } => {
                found.made.insert(page);
                found.put(at, word & !IMM21);
            }
            Instruction::Add { by, can_use_page } => match base {
                RegisterValue::Page(page) if can_use_page => {
                    reads.reads = 0;
                    found.use_page(at, word, page, by as u64, AccessSize::Open);
                }
                RegisterValue::Address { origin, offset } => {
                    let by = offset.unwrap_or(0).wrapping_add(by);
                    found.derive(at, origin.wrapping_add_signed(by), AccessSize::Open);
                }
                _ => {}
            },
            Instruction::Access(access) => {
                let extent = AccessSize::Exact(access.size);
                match base {
                    // A store that also stores its base register would write the page itself to memory.
                    RegisterValue::Page(page) if access.can_use_page && !stores_base(word) => {
                        reads.reads &= !one(rn(word));
                        found.use_page(at, word, page, access.offset as u64, extent);
                    }
                    RegisterValue::Address { origin, offset } => {
                        let by = offset.unwrap_or(0).wrapping_add(access.offset);
                        let extent = offset.map_or(AccessSize::Open, |_| extent);
                        found.derive(at, origin.wrapping_add_signed(by), extent);
                    }
                    _ => {}
                }
            }
            _ => {}
        }
        found.body.has_unknown_addresses |= if takes_half(word) {
            registers.is_certain_page_read(reads)
        } else {
            registers.is_page_read(reads)
        };
        found.body.uses_threads |= reads_thread_pointer(word);
        found.body.reads_distances |= reads_distance(word);
    }

    /// Collects the address of an `adr` that refers to something outside the unit. If an address is near, linkers replace `adrp` and `add` by `nop`
    /// and `adr`. So the masked code gets `adrp` and `add` here, and both forms count as the same code.
    fn collect_short(&self, at: usize, word: u32, target: u64, found: &mut FoundAddresses) {
        let is_entered = self.bounds.binary_search(&at).is_ok();
        if at > 0 && self.words[at - 1] == Some(NOP) && !is_entered {
            let register = rd(word) as u32;
            found.put(at - 1, 0x9000_0000 | register);
            found.put(at, 0x9100_0000 | register << 5 | register);
        } else {
            found.put(at, word & !IMM21);
            // Some processors have an error that linkers avoid by replacing `adrp` by such an `adr`.
            found.body.has_unknown_addresses |= target.is_multiple_of(PAGE);
        }
        found.refer(at, target, AccessSize::Open);
    }
}

/// Returns the value of a register that contains the address `origin`.
fn address(origin: u64) -> RegisterValue {
    RegisterValue::Address {
        origin,
        offset: Some(0),
    }
}

/// Returns the sum of a value and a number. `by` is `None` if the number is unknown.
fn sum(value: RegisterValue, by: Option<i64>) -> RegisterValue {
    value.plus(by).unwrap_or(match value {
        RegisterValue::Unset | RegisterValue::Stale => RegisterValue::Unset,
        _ => RegisterValue::Plain,
    })
}

/// Returns the words of a unit: an instruction, or `None` for data.
pub(super) fn words(code: &UnitCode<'_>) -> Vec<Option<u32>> {
    let words = code.bytes.chunks_exact(SIZE as usize).zip(0_u64..);
    let word = |(bytes, at): (&[u8], u64)| {
        let address = code.start.wrapping_add(SIZE * at);
        let word = bytes.try_into().map(u32::from_le_bytes).ok()?;
        code.data_at(address).is_none().then_some(word)
    };
    words.map(word).collect()
}

fn register_use(word: u32) -> RegisterUse {
    RegisterUse::decode(word).unwrap_or_else(|| RegisterUse::any(word))
}

/// Returns the register that `mov` copies.
fn source_of_copy(word: u32) -> usize {
    bits(word, 16, 5) as usize
}

/// Returns true if a store stores the same register that holds its address.
fn stores_base(word: u32) -> bool {
    let is_vector = bits(word, 26, 1) == 1;
    let is_store = bits(word, 22, 2) == 0;
    !is_vector && is_store && rd(word) == rn(word)
}

/// Returns true if an instruction computes with the lower halves of registers. Half of a register is no address.
fn takes_half(word: u32) -> bool {
    let computes = matches!(bits(word, 25, 4), 0b0101 | 0b1101) || bits(word, 26, 3) == 0b100;
    computes && bits(word, 31, 1) == 0
}

/// Reports whether an instruction reads the address of thread-local storage (`mrs x0, tpidr_el0`).
fn reads_thread_pointer(word: u32) -> bool {
    word & 0xffff_ffe0 == 0xd53b_d040
}

/// Reports whether an instruction reads a signed 32-bit number by an index (`ldrsw x0, [x1, x2]`).
fn reads_distance(word: u32) -> bool {
    word & 0xffe0_0c00 == 0xb8a0_0800
}

#[cfg(test)]
mod tests {
    use super::super::instruction::IMM26;
    use super::*;

    const RET: u32 = 0xd65f_03c0;
    const START: u64 = 0x1_0000;
    /// Three addresses outside the unit: of a function, of code that was moved out of functions, and of a function that never returns.
    const FUNCTION: u64 = 0x2_0000;
    const OUTLINED: u64 = 0x3_0000;
    const ENDLESS: u64 = 0x4_0000;

    fn adrp(d: u32, page: u64, at: u64) -> u32 {
        let pages = (page / PAGE).wrapping_sub(at / PAGE) as u32;
        0x9000_0000 | (pages & 3) << 29 | (pages >> 2 & 0x7_ffff) << 5 | d
    }

    fn add(d: u32, n: u32, by: u32) -> u32 {
        0x9100_0000 | by << 10 | n << 5 | d
    }

    /// `ldr` of 64 bits.
    fn load(t: u32, n: u32, offset: u32) -> u32 {
        0xf940_0000 | (offset / 8) << 10 | n << 5 | t
    }

    fn store(t: u32, n: u32, offset: u32) -> u32 {
        0xf900_0000 | (offset / 8) << 10 | n << 5 | t
    }

    /// A `bl` at the address `at`.
    fn call(to: u64, at: u64) -> u32 {
        0x9400_0000 | (to.wrapping_sub(at) as u32 / 4) & IMM26
    }

    /// A `cbz x0` that skips `count` instructions.
    fn skip(count: u32) -> u32 {
        0xb400_0000 | (count + 1) << 5
    }

    fn decode_at(start: u64, words: &[u32]) -> UnitBody {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        decode(&UnitCode {
            start,
            end: start + bytes.len() as u64,
            bytes: &bytes,
            data: &[],
            entrance: &|address| match address {
                OUTLINED => Entrance::Outlined,
                FUNCTION => Entrance::Function,
                ENDLESS => Entrance::Endless,
                _ => Entrance::Unknown,
            },
        })
    }

    fn targets(body: &UnitBody) -> Vec<(u32, u64, AccessSize)> {
        let found = body.references.iter();
        found.map(|one| (one.at, one.target, one.extent)).collect()
    }

    fn derived(body: &UnitBody) -> Vec<(u32, u64)> {
        let found = body.derived.iter();
        found.map(|one| (one.at, one.target)).collect()
    }

    #[test]
    fn a_page_and_an_offset_are_one_address_wherever_the_code_lies() {
        let code = |start: u64, to: u64| {
            let (page, offset) = (to & !(PAGE - 1), (to % PAGE) as u32);
            let words = [
                adrp(8, page, start),
                adrp(9, page, start + 4),
                call(FUNCTION, start + 8),
                RET,
            ];
            let words = [
                words[0],
                add(0, 8, offset),
                words[1],
                load(1, 9, offset),
                call(FUNCTION, start + 16),
                RET,
            ];
            decode_at(start, &words)
        };
        let (one, other) = (code(START, 0x12_3450), code(0x74_1000, 0x99_9ff8));
        assert_eq!(one.masked, other.masked);
        assert!(!one.has_unknown_addresses && !other.has_unknown_addresses);
        let open = AccessSize::Open;
        assert_eq!(
            targets(&one),
            [
                (4, 0x12_3450, open),
                (12, 0x12_3450, AccessSize::Exact(8)),
                (16, FUNCTION, open)
            ]
        );
        assert_eq!(targets(&other)[0], (4, 0x99_9ff8, open));
    }

    #[test]
    fn a_page_that_is_used_in_an_unknown_way_makes_addresses_unknown() {
        let page = adrp(8, 0x5_0000, START);
        let is_unknown = |words: &[u32]| decode_at(START, words).has_unknown_addresses;
        assert!(!is_unknown(&[page, add(0, 8, 16), RET]));
        for (what, words) in [
            ("it is never used", vec![page, RET]),
            (
                "it is stored",
                vec![page, add(0, 8, 16), store(8, 31, 8), RET],
            ),
            ("it is stored in itself", vec![page, store(8, 8, 16), RET]),
            ("it is copied", vec![page, add(0, 8, 16), 0xaa08_03e9, RET]),
            ("it is added to", vec![page, 0x8b08_0120, RET]),
            (
                "a function that was moved out of this one may use it",
                vec![page, add(0, 8, 16), call(OUTLINED, START + 8), RET],
            ),
            (
                "code within another function may use it",
                vec![page, add(0, 8, 16), 0x1400_1000, RET],
            ),
            (
                "a call may have kept it",
                vec![
                    page,
                    add(0, 8, 16),
                    call(FUNCTION, START + 8),
                    add(1, 8, 24),
                    RET,
                ],
            ),
            (
                "it is a number on another path",
                vec![page, skip(1), 0xd280_0008, add(0, 8, 16), RET],
            ),
            (
                "it is a number on another path, and copied",
                vec![page, skip(1), 0xd280_0008, 0xaa08_03e1, RET],
            ),
            (
                "it is another page on another path",
                vec![
                    page,
                    skip(1),
                    adrp(8, 0x6_0000, START + 8),
                    add(0, 8, 16),
                    RET,
                ],
            ),
            ("a branch is unknown", vec![0x7400_0000, RET]),
        ] {
            assert!(is_unknown(&words), "{what}");
        }
    }

    #[test]
    fn a_page_is_followed_through_branches_loops_calls_and_jumps() {
        let is_known = |words: &[u32]| !decode_at(START, words).has_unknown_addresses;
        // On one path the register has a page, on the other a number. Code that copies half of the register means the number.
        let page = adrp(8, 0x5_0000, START);
        assert!(is_known(&[
            page,
            load(0, 8, 8),
            skip(1),
            0xd280_0008,
            0x2a08_03e1,
            RET
        ]));
        // Both paths put the same page into the register.
        let page = adrp(8, 0x5_0000, START);
        assert!(is_known(&[page, skip(1), page, add(0, 8, 16), RET]));
        // In a loop, the page is in a register that calls leave as it was.
        let page = adrp(20, 0x5_0000, START);
        let body = decode_at(
            START,
            &[
                page,
                load(0, 20, 8),
                call(FUNCTION, START + 8),
                0xb5ff_ffc0,
                RET,
            ],
        );
        assert!(!body.has_unknown_addresses);
        assert_eq!(targets(&body)[0].1, 0x5_0008);
        // A branch skips a call. If the called function never returns, the code after the call is reached through the branch alone.
        let code = |callee| {
            [
                page,
                skip(2),
                0xd280_0014,
                call(callee, START + 12),
                load(0, 20, 8),
                RET,
            ]
        };
        assert!(is_known(&code(ENDLESS)) && !is_known(&code(FUNCTION)));
        // Only a jump to an address in a register leads to the load of the page.
        let body = decode_at(START, &[page, 0xd61f_0120, load(0, 20, 8), RET]);
        assert!(!body.has_unknown_addresses);
        assert_eq!(targets(&body)[0].1, 0x5_0008);
    }

    #[test]
    fn what_a_linker_made_shorter_counts_as_what_it_was() {
        let long = decode_at(START, &[adrp(3, 0x1_1000, START), add(3, 3, 0x234), RET]);
        let to = 0x1_1234 - (START + 4);
        let adr = 0x1000_0000 | (to as u32 & 3) << 29 | (to as u32 >> 2) << 5 | 3;
        let short = decode_at(START, &[NOP, adr, RET]);
        assert_eq!(long.masked, short.masked);
        assert_eq!(targets(&long), targets(&short));
        assert!(!short.has_unknown_addresses);
        // An `adr` without a `nop` before it does not count as `adrp` and `add`.
        let alone = decode_at(START, &[RET, adr, RET]);
        assert_ne!(alone.masked, short.masked);
        assert_eq!(targets(&alone), targets(&short));
    }

    #[test]
    fn addresses_that_code_computes_from_others_are_known() {
        let body = decode_at(
            START,
            &[
                adrp(8, 0x5_0000, START),
                add(8, 8, 0x20),
                load(0, 8, 0x10),
                add(9, 8, 0x40),
                // ldur x1, [x9, #-8]
                0xf85f_8121,
                RET,
            ],
        );
        assert_eq!(
            derived(&body),
            [(8, 0x5_0030), (12, 0x5_0060), (16, 0x5_0058)]
        );
    }

    #[test]
    fn an_address_is_known_in_part_after_a_number_is_added() {
        let page = adrp(8, 0x5_0000, START);
        // add x9, x8, x1, lsl #2; madd x9, x1, x2, x8; add x9, x1, x8; sub x9, x8, x1
        for sum in [0x8b01_0909, 0x9b02_2029, 0x8b08_0029, 0xcb01_0109] {
            let body = decode_at(START, &[page, add(8, 8, 0x20), sum, load(0, 9, 0x10), RET]);
            assert_eq!(derived(&body), [(12, 0x5_0030)], "{sum:x}");
        }
        // A pointer that moves in a loop.
        let body = decode_at(
            START,
            &[
                page,
                add(8, 8, 0x20),
                load(0, 8, 0x10),
                add(8, 8, 8),
                0xb5ff_ffc0,
                RET,
            ],
        );
        assert_eq!(derived(&body), [(8, 0x5_0030), (12, 0x5_0028)]);
    }

    #[test]
    fn a_function_without_a_way_back_is_endless() {
        let is_endless = |words: &[u32]| {
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            is_endless(&UnitCode {
                start: START,
                end: START + bytes.len() as u64,
                bytes: &bytes,
                data: &[],
                entrance: &|_| Entrance::Unknown,
            })
        };
        let call = call(FUNCTION, START);
        assert!(is_endless(&[call]) && is_endless(&[NOP, call, NOP]));
        assert!(is_endless(&[skip(1), 0xd420_0020, call]));
        for words in [
            &[call, RET][..],
            &[0x1400_1000],
            &[0xd61f_0120],
            &[skip(0)],
            &[NOP],
            &[],
        ] {
            assert!(!is_endless(words), "{words:x?}");
        }
    }

    #[test]
    fn data_among_code_are_not_instructions() {
        let words = [RET, call(FUNCTION, START + 4), adrp(0, 0x5_0000, START + 8)];
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let body = decode(&UnitCode {
            start: START,
            end: START + 12,
            bytes: &bytes,
            data: std::slice::from_ref(&(START + 4..START + 12)),
            entrance: &|_| Entrance::Unknown,
        });
        assert_eq!(body.masked, bytes);
        assert_eq!(
            (targets(&body).len(), body.has_unknown_addresses),
            (0, false)
        );
    }

    #[test]
    fn any_words_are_decoded() {
        let page = adrp(8, 0x5_0000, START);
        let words = [
            page,
            skip(1),
            page,
            add(0, 8, 16),
            0xd61f_0120,
            load(0, 8, 8),
            RET,
        ];
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        perfcheck_mutations::attack("words", &[bytes.repeat(20)], |bytes| {
            let words = bytes.chunks_exact(4).map(|word| {
                let word = word.try_into().expect("the slice has this length");
                u32::from_le_bytes(word)
            });
            let words: Vec<u32> = words.collect();
            assert_eq!(decode_at(START, &words).masked.len(), 4 * words.len());
        });
    }
}
