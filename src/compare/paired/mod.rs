//! Decisions about A/B measurements.

use crate::model::{BenchmarkKey, Sample, Verdict};

use super::comparison::{Comparison, Estimate};

/// The samples of both sides in one round, in the order taken; samples 2q and 2q + 1 of each side form quad q.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Round {
    /// Those of the reference.
    pub base: Vec<Sample>,
    /// Those of the candidate.
    pub new: Vec<Sample>,
}

/// One benchmark.
#[derive(Debug, Clone, Copy)]
pub struct Duel<'a> {
    pub key: &'a BenchmarkKey,
    pub rounds: &'a [Round],
    pub noise_threshold: f64,
}

/// The plan.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Plan {
    pub looks: Vec<u32>,
    pub significance_level: f64,
    pub planned: usize,
    pub confidence_level: f64,
    pub resamples: u32,
    pub seed: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    Open,
    Settled(Verdict),
}

fn quantile(rounds: &[Round], skip: usize, pick: fn(&Round) -> &Vec<Sample>) -> f64 {
    let mut all: Vec<f64> = rounds
        .iter()
        .enumerate()
        .filter(|(i, _)| *i != skip)
        .flat_map(|(_, r)| pick(r).iter().map(|s| s.per_iteration()))
        .collect();
    all.sort_by(f64::total_cmp);
    all.get(((all.len() as f64 * 0.01).ceil() as usize).max(1) - 1)
        .copied()
        .unwrap_or(f64::NAN)
        .ln()
}

fn estimate(duel: &Duel<'_>) -> (f64, f64) {
    let d =
        |skip| quantile(duel.rounds, skip, |r| &r.new) - quantile(duel.rounds, skip, |r| &r.base);
    let all = d(usize::MAX);
    let k = duel.rounds.len();
    let parts: Vec<f64> = (0..k).map(d).collect();
    let mean = parts.iter().sum::<f64>() / k as f64;
    let var = parts.iter().map(|x| (x - mean).powi(2)).sum::<f64>() * (k as f64 - 1.0) / k as f64;
    (all, var.sqrt() * 4.0 + 1e-5)
}

pub fn standing(duel: &Duel<'_>, plan: &Plan) -> Standing {
    let comparison = judge(&[*duel], plan).remove(0);
    if comparison.verdict == Verdict::Inconclusive {
        Standing::Open
    } else {
        Standing::Settled(comparison.verdict)
    }
}

pub fn judge(duels: &[Duel<'_>], _plan: &Plan) -> Vec<Comparison> {
    duels
        .iter()
        .map(|duel| {
            let (d, w) = estimate(duel);
            let theta = duel.noise_threshold.ln_1p();
            let verdict = if d - w > theta {
                Verdict::Regressed
            } else if d + w < -theta {
                Verdict::Improved
            } else if d - w > -theta && d + w < theta {
                Verdict::Unchanged
            } else {
                Verdict::Inconclusive
            };
            Comparison {
                verdict,
                change: Some(Estimate::from_logarithms(d, d - w, d + w)),
                p_value: None,
                t_score_p: None,
                change_mean: None,
                change_median: None,
                noise_threshold: duel.noise_threshold,
                smallest_callable: None,
                location: None,
                launches_new: duel.rounds.len(),
                launches_base: duel.rounds.len(),
                runs_averaged: 1,
                runs_spread: 1,
                run_sd: None,
                notes: Vec::new(),
            }
        })
        .collect()
}
