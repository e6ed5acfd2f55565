//! Relinks both builds so that their functions have the same addresses. Without this, the same code could be faster on one side only because it lies
//! elsewhere in memory.

use std::collections::{BTreeMap, BTreeSet};
use std::env::consts::OS;
use std::path::Path;

use super::cache_build::cache_directory;
use super::prepare::TargetName;
use crate::error::AppError;
use crate::session::World;
use perfcheck_analysis::findings::RunNote;
use perfcheck_analysis::model::{BySide, Side, SystemFeature};
use perfcheck_bench::measure::PairedTarget;
use perfcheck_build::link::{CodeLayouts, LinkError};
use perfcheck_build::sides::{SideTarget, StagedExecutables};

/// The extent to which two builds can be relinked.
pub(crate) enum Relinking {
    /// These bench targets can be relinked. `stage` is the directory for the relinked executables.
    Possible {
        targets: BTreeMap<TargetName, BySide<SideTarget>>,
        stage: StagedExecutables,
    },
    /// Relinking is impossible for this reason.
    Impossible(&'static str),
    /// The user disabled relinking.
    Unwanted,
}

impl Relinking {
    /// Decides whether the bench targets of `pairs` can be relinked. `as_built` means that the user disabled relinking.
    pub(crate) fn plan<'t>(
        pairs: impl Iterator<Item = BySide<&'t SideTarget>>,
        as_built: bool,
        world: &World<'_>,
    ) -> Result<Self, AppError> {
        if as_built {
            return Ok(Self::Unwanted);
        }
        if SystemFeature::missing_on(OS).contains(&SystemFeature::FunctionOrder) {
            let why = "the linkers of this system do not move single functions";
            return Ok(Self::Impossible(why));
        }
        let targets = pairs.map(|pair| {
            let both = BySide {
                base: pair.base.clone(),
                candidate: pair.candidate.clone(),
            };
            (TargetName::from_target(&pair.candidate.target), both)
        });
        Ok(Self::Possible {
            targets: targets.collect(),
            stage: StagedExecutables::open(&cache_directory(world)?)?,
        })
    }

    /// Sets up relinking of the executables of `pairs`. Returns a note on executables that stay as built, if any.
    pub(crate) fn prepare(
        &self,
        pairs: &mut [PairedTarget],
        seed: u64,
        world: &World<'_>,
    ) -> Option<RunNote> {
        let mut as_built = BTreeSet::new();
        let mut why = String::new();
        for (ordinal, pair) in pairs.iter_mut().enumerate() {
            if world.interrupt.is_requested() {
                // The interrupt ends the command before any measurement, so nobody would read the note.
                return None;
            }
            let found = match self {
                Self::Possible { targets, stage } => {
                    let find = |side| targets.get(&TargetName::from_target(pair.targets.get(side)));
                    match (find(Side::Base), find(Side::Candidate)) {
                        (Some(base), Some(candidate)) => {
                            let sides = BySide {
                                base: &base.base,
                                candidate: &candidate.candidate,
                            };
                            prepare_layouts(sides, stage, ordinal, seed)
                        }
                        _ => continue,
                    }
                }
                Self::Impossible(why) => Err((*why).to_owned()),
                Self::Unwanted => return None,
            };
            match found {
                Ok(layouts) => pair.layouts = Some(layouts),
                Err(reason) => {
                    as_built.insert(pair.targets.candidate.target.clone());
                    why = reason;
                }
            }
        }
        (!as_built.is_empty()).then(|| RunNote::AsBuilt {
            targets: as_built.into_iter().collect(),
            why,
        })
    }
}

fn prepare_layouts(
    sides: BySide<&SideTarget>,
    stage: &StagedExecutables,
    ordinal: usize,
    seed: u64,
) -> Result<CodeLayouts, String> {
    let (Some(base), Some(candidate)) = (&sides.base.relinkable, &sides.candidate.relinkable)
    else {
        return Err(LinkError::Unrepeatable.to_string());
    };
    let called = sides.candidate.executable.file_name().unwrap_or_default();
    let places = stage
        .create_places(ordinal, Path::new(called))
        .map_err(|error| error.to_string())?;
    let from = BySide {
        base: base.clone(),
        candidate: candidate.clone(),
    };
    let built = BySide {
        base: &*sides.base.executable,
        candidate: &*sides.candidate.executable,
    };
    CodeLayouts::prepare(&from, built, &places, seed).map_err(|error| error.to_string())
}
