//! Several benchmarks in one run.

use super::*;

fn judge_all(factors: &[f64], plan: &Plan) -> Vec<Comparison> {
    let keys: Vec<BenchmarkKey> = (0..factors.len()).map(|i| key(&format!("b{i}"))).collect();
    let sets: Vec<Vec<Round>> = factors.iter().map(|factor| quiet(12, *factor)).collect();
    let all_series: Vec<PairedSeries<'_>> = keys
        .iter()
        .zip(&sets)
        .map(|(key, rounds)| PairedSeries {
            key,
            metric: &Metric::Time,
            rounds,
            noise_threshold: 0.01,
        })
        .collect();
    judge(&all_series, plan)
}

#[test]
fn answers_come_in_order_and_each_with_its_own_interval() {
    let comparisons = judge_all(&[1.0, 1.05, 0.95], &plan(&[12]));
    let verdicts: Vec<Verdict> = comparisons.iter().map(|one| one.verdict).collect();
    assert_eq!(
        verdicts,
        [Verdict::Unchanged, Verdict::Regressed, Verdict::Improved]
    );
}

#[test]
fn what_passes_only_the_level_of_a_single_benchmark_is_suspect() {
    // Seven of twelve base processes are faster than all of the candidate's: by Fisher's test the probability is 1 in 215.
    let mut noise = Noise::new(9);
    let rounds = rounds_of(12, |round, side, _| {
        let slow = side == Side::Candidate || round >= 7;
        100.0 * if slow { 1.05 } else { 1.0 } * (1.0 + 0.002 * noise.exponential())
    });
    let of_family = |planned| {
        judge_one(
            &rounds,
            0.01,
            &Plan {
                planned,
                ..plan(&[12])
            },
        )
    };
    assert_eq!(of_family(1).verdict, Verdict::Regressed);
    let suspect = of_family(50);
    assert_eq!(suspect.verdict, Verdict::Suspect);
    assert!(suspect.change.unwrap().lower < 0.01);
    assert_eq!(suspect.slow_side(), None);
    assert!(suspect.p_value.unwrap() > 0.008);
}

#[test]
fn benchmarks_that_could_not_be_measured_stay_in_the_family() {
    let width = |planned| {
        let change = judge_all(
            &[1.0],
            &Plan {
                planned,
                ..plan(&[12])
            },
        )[0]
        .change
        .unwrap();
        change.upper - change.lower
    };
    assert!(width(30) > width(1));
    assert_eq!(width(0), width(1));
}

#[test]
fn once_others_are_rejected_the_rest_have_a_larger_level() {
    let alone = judge_all(&[1.0, 1.0], &plan(&[12]))[0].change.unwrap();
    let beside = judge_all(&[1.0, 1.5], &plan(&[12]))[0].change.unwrap();
    assert!(beside.lower > alone.lower);
    assert_eq!(beside.upper, alone.upper);
}

#[test]
fn a_benchmark_that_another_job_measured_keeps_the_seed_of_that_job() {
    let mut noise = Noise::new(5);
    let rounds = rounds_of(12, |_, _, _| 100.0 * (1.0 + 0.05 * noise.exponential()));
    let seeded = |seed, seeds: &[(&str, u64)]| {
        let own = seeds.iter().map(|(id, seed)| (key(id).to_string(), *seed));
        let plan = Plan {
            seed,
            seeds: own.collect(),
            ..plan(&[12])
        };
        judge_one(&rounds, 0.01, &plan)
    };
    let (here, there) = (seeded(3, &[]), seeded(4, &[]));
    assert_ne!(here, there);
    assert_eq!(seeded(3, &[("b", 4)]), there);
    assert_eq!(seeded(3, &[("c", 4)]), here);
}
