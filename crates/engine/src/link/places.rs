//! One map for both sides: the position of each function in its page, which is the same on both (pure).
//!
//! Functions come in a random order. Each has room for the larger of both sides' code and begins at a multiple of 16 bytes after a random gap. A
//! function that would cross the end of a page begins on the next page, so only a long function crosses one. A filler before each function takes up
//! the unused room. If the real size of a function differs from that of its symbol, positions are right again from the next page on.

use std::collections::BTreeSet;

use super::functions::{Function, Functions};
use perfcheck_analysis::model::{BySide, Side};
use perfcheck_stats::{Draws, Stream};

/// Size of a memory page, in bytes. Processors that compare only a few bits of addresses distinguish them within this range.
const PAGE: u64 = 4096;
/// Compilers align functions to this many bytes. Any larger alignment is left to chance.
const STEP: u64 = 16;
/// The gap before a function is a random number of steps less than this: a cache line has four.
const GAPS: u32 = 4;

/// The room before a function that has to be filled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FillerSpec {
    pub(super) size: u64,
    pub(super) alignment: u64,
}

/// An element of the executable, in the order of the link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum CodePiece {
    Filler(FillerSpec),
    /// The symbol of a function.
    Function(String),
}

/// Draws a map: returns the pieces from which to link each side, such that common functions get the same positions. `ordinal` distinguishes maps.
pub(super) fn draw_map(
    sides: BySide<&Functions>,
    seed: u64,
    ordinal: u32,
) -> BySide<Vec<CodePiece>> {
    let block = u64::from(ordinal);
    let mut slots = pair_functions(&sides);
    let name = "order of functions";
    let mut order = Draws::new(Stream { seed, name }, block);
    order.shuffle(&mut slots);
    let name = "gaps between functions";
    let mut gaps = Draws::new(Stream { seed, name }, block);
    let mut map = BySide {
        base: SideLayout::default(),
        candidate: SideLayout::default(),
    };
    let mut end = 0_u64;
    for slot in slots {
        let gap = STEP * gaps.index(GAPS) as u64;
        let mut start = end.next_multiple_of(STEP) + gap;
        let room = slot.base.map_or(0, |function| function.size);
        let room = room.max(slot.candidate.map_or(0, |function| function.size));
        let fits = start / PAGE == (start + room.max(1) - 1) / PAGE;
        if !fits {
            // A filler of no bytes would have no alignment.
            start = end.next_multiple_of(PAGE) + STEP + gap;
        }
        for side in Side::BOTH {
            let strip = map.get_mut(side);
            strip.fill_to(start, fits);
            strip.push_function(*slot.get(side));
        }
        end = start + room;
    }
    BySide {
        base: map.base.pieces,
        candidate: map.candidate.pieces,
    }
}

/// The functions of one name: one of each side that has it.
type Slot<'f> = BySide<Option<&'f Function>>;

fn pair_functions<'f>(sides: &BySide<&'f Functions>) -> Vec<Slot<'f>> {
    let names: BTreeSet<&String> = sides.base.keys().chain(sides.candidate.keys()).collect();
    let mut slots = Vec::new();
    for name in names {
        let of = |side| -> Vec<&'f Function> {
            sides.get(side).get(name).into_iter().flatten().collect()
        };
        let (base, mut candidate) = (of(Side::Base), of(Side::Candidate));
        // If several functions share a name, first pair those of equal size, then the rest.
        let mut others = Vec::new();
        for function in base {
            let same = candidate
                .iter()
                .position(|other| other.size == function.size);
            match same {
                Some(at) => slots.push(BySide {
                    base: Some(function),
                    candidate: Some(candidate.remove(at)),
                }),
                None => others.push(function),
            }
        }
        for nth in 0..others.len().max(candidate.len()) {
            slots.push(BySide {
                base: others.get(nth).copied(),
                candidate: candidate.get(nth).copied(),
            });
        }
    }
    slots
}

/// The pieces of one side so far.
#[derive(Default)]
struct SideLayout {
    pieces: Vec<CodePiece>,
    end: u64,
}

impl SideLayout {
    /// Adds filler up to `start`: from the current end, or from the beginning of a new page.
    fn fill_to(&mut self, start: u64, from_here: bool) {
        let filler = if from_here {
            FillerSpec {
                size: start - self.end,
                alignment: 1,
            }
        } else {
            FillerSpec {
                size: start % PAGE,
                alignment: PAGE,
            }
        };
        if filler.size > 0 {
            self.pieces.push(CodePiece::Filler(filler));
        }
        self.end = start;
    }

    fn push_function(&mut self, function: Option<&Function>) {
        if let Some(function) = function {
            self.pieces
                .push(CodePiece::Function(function.symbol.clone()));
            self.end += function.size;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn side(sizes: &[(&str, u64)], hash: &str) -> Functions {
        let mut found = Functions::new();
        for (name, size) in sizes {
            found.entry((*name).to_owned()).or_default().push(Function {
                symbol: format!("{name}{hash}{size}"),
                size: *size,
                address: 0,
            });
        }
        found
    }

    /// Returns the position of each function in its page, by symbol without hash and by size.
    fn places(pieces: &[CodePiece], side: &Functions) -> BTreeMap<String, u64> {
        let sizes: BTreeMap<&str, (&str, u64)> = side
            .iter()
            .flat_map(|(name, all)| all.iter().map(move |f| (&*f.symbol, (&**name, f.size))))
            .collect();
        let mut at = 0_u64;
        let mut found = BTreeMap::new();
        for piece in pieces {
            match piece {
                CodePiece::Filler(filler) => {
                    at = at.next_multiple_of(filler.alignment) + filler.size
                }
                CodePiece::Function(symbol) => {
                    let (name, size) = sizes[&**symbol];
                    assert_eq!(at % STEP, 0, "the linker would align it");
                    found.insert(name.to_owned(), at % PAGE);
                    at += size;
                }
            }
        }
        found
    }

    fn both(sides: &BySide<Functions>) -> BySide<&Functions> {
        BySide {
            base: &sides.base,
            candidate: &sides.candidate,
        }
    }

    proptest! {
        #[test]
        fn what_both_sides_have_lies_at_the_same_place_of_a_page(
            sizes in prop::collection::vec((1_u64..9000, 0_u64..300, 0_u8..6), 1..80),
            seed in 0_u64..1000,
            ordinal in 0_u32..10,
        ) {
            let names: Vec<String> = (0..sizes.len()).map(|i| format!("f{i}")).collect();
            let (mut base, mut candidate) = (Vec::new(), Vec::new());
            for (name, (size, growth, kind)) in names.iter().zip(&sizes) {
                if *kind != 0 { base.push((&**name, *size)); }
                if *kind != 1 { candidate.push((&**name, size + if *kind == 2 { *growth } else { 0 })); }
            }
            let sides = BySide { base: side(&base, "h1"), candidate: side(&candidate, "h2") };
            let map = draw_map(both(&sides), seed, ordinal);
            let found = [places(&map.base, &sides.base), places(&map.candidate, &sides.candidate)];
            prop_assert_eq!(found[0].len(), base.len());
            prop_assert_eq!(found[1].len(), candidate.len());
            for (name, place) in &found[0] {
                if let Some(other) = found[1].get(name) {
                    prop_assert_eq!(place, other, "{}", name);
                }
            }
        }
    }

    #[test]
    fn every_map_has_another_order_and_the_same_ordinal_the_same_map() {
        let sizes: Vec<(String, u64)> = (0..40).map(|i| (format!("f{i}"), 100 + i)).collect();
        let sizes: Vec<(&str, u64)> = sizes.iter().map(|(name, size)| (&**name, *size)).collect();
        let sides = BySide {
            base: side(&sizes, "a"),
            candidate: side(&sizes, "b"),
        };
        let map = draw_map(both(&sides), 3, 1);
        assert_eq!(map, draw_map(both(&sides), 3, 1));
        assert_ne!(map, draw_map(both(&sides), 3, 2));
        assert_ne!(map, draw_map(both(&sides), 4, 1));
    }

    #[test]
    fn a_function_that_is_not_what_its_symbol_says_shifts_its_own_page_alone() {
        // 40 functions of 400 bytes: nine or ten fit on a page.
        let sizes: Vec<(String, u64)> = (0..40).map(|i| (format!("f{i}"), 400)).collect();
        let sizes: Vec<(&str, u64)> = sizes.iter().map(|(name, size)| (&**name, *size)).collect();
        let sides = BySide {
            base: side(&sizes, "a"),
            candidate: side(&sizes, "b"),
        };
        let map = draw_map(both(&sides), 3, 1);
        let mut larger = sides.base.clone();
        larger.get_mut("f7").expect("it is there")[0].size += 64;
        let (told, real) = (places(&map.base, &sides.base), places(&map.base, &larger));
        let moved = told.iter().filter(|(name, place)| real[*name] != **place);
        assert!(moved.count() < 11);
    }
}
