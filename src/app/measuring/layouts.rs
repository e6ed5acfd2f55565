//! Layouts of the code: what of both builds can be linked anew, so that its functions lie at the same places on both sides.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::cache_build::cache_directory;
use super::pairing::{TargetName, name};
use crate::app::context::World;
use crate::app::error::AppError;
use perfcheck_analysis::findings::RunRemark;
use perfcheck_analysis::model::BySide;
use perfcheck_engine::link::{CodeLayouts, LinkError};
use perfcheck_engine::measure::PairedTarget;
use perfcheck_engine::sides::{SideTarget, Stage};

/// What of two builds can be linked anew.
pub(in crate::app) enum Relinking {
    /// These bench targets; the executables go to the stage.
    Possible {
        targets: BTreeMap<TargetName, BySide<SideTarget>>,
        stage: Stage,
    },
    /// Nothing, for this reason.
    Impossible(&'static str),
    /// Nothing, as the user wishes.
    Unwanted,
}

impl Relinking {
    /// Of bench targets that were built for this comparison.
    pub(in crate::app) fn of<'t>(
        pairs: impl Iterator<Item = BySide<&'t SideTarget>>,
        as_built: bool,
        world: &World<'_>,
    ) -> Result<Self, AppError> {
        if as_built {
            return Ok(Self::Unwanted);
        }
        let targets = pairs.map(|pair| {
            let both = BySide {
                base: pair.base.clone(),
                candidate: pair.candidate.clone(),
            };
            (name(&pair.candidate.target), both)
        });
        Ok(Self::Possible {
            targets: targets.collect(),
            stage: Stage::open(&cache_directory(world)?)?,
        })
    }

    /// Lets the executables of `pairs` be linked anew. What is said of those that stay as they were built, if there are any.
    pub(in crate::app) fn prepare(
        &self,
        pairs: &mut [PairedTarget],
        seed: u64,
        world: &World<'_>,
    ) -> Option<RunRemark> {
        let mut as_built = BTreeSet::new();
        let mut why = String::new();
        for (ordinal, pair) in pairs.iter_mut().enumerate() {
            if world.interrupt.requested() {
                // Nothing of them will be measured.
                return None;
            }
            let found = match self {
                Self::Possible { targets, stage } => {
                    match targets.get(&name(&pair.targets.candidate)) {
                        Some(sides) => layouts(sides, stage, ordinal, seed),
                        None => continue,
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
        (!as_built.is_empty()).then(|| RunRemark::AsBuilt {
            targets: as_built.into_iter().collect(),
            why,
        })
    }
}

fn layouts(
    sides: &BySide<SideTarget>,
    stage: &Stage,
    ordinal: usize,
    seed: u64,
) -> Result<CodeLayouts, String> {
    let (Some(base), Some(candidate)) = (&sides.base.relinkable, &sides.candidate.relinkable)
    else {
        return Err(LinkError::Unrepeatable.to_string());
    };
    let called = sides.candidate.executable.file_name().unwrap_or_default();
    let places = stage
        .places(ordinal, Path::new(called))
        .map_err(|error| error.to_string())?;
    let from = BySide {
        base: base.clone(),
        candidate: candidate.clone(),
    };
    let built = BySide {
        base: &*sides.base.executable,
        candidate: &*sides.candidate.executable,
    };
    CodeLayouts::of(&from, built, &places, seed).map_err(|error| error.to_string())
}
