//! Tests of histories with networks that are solved by hand or by brute force, and with simulated histories.

use super::levels::{LEVEL_P, Search};
use super::network::{Component, NodeGroups, Weighted};
use super::*;
use crate::compare::trend::TrendRules;
use perfcheck_stats::{Draws, Stream};

const RULES: TrendRules = TrendRules {
    noise_threshold: 0.01,
    confidence_level: 0.95,
    seed: 0,
};

fn edge(from: usize, to: usize, log_ratio: f64, standard_error: f64) -> Edge {
    Edge {
        from,
        to,
        log_ratio,
        standard_error,
        called: false,
        class: 0,
    }
}

fn network(places: usize, edges: &[Edge]) -> Network<'_> {
    let nodes = edges.iter().map(|edge| edge.from.max(edge.to) + 1).max();
    Network {
        places,
        nodes: nodes.unwrap_or(0).max(places),
        edges,
    }
}

fn placed(places: usize, edges: &[Edge]) -> LevelEstimate {
    LevelEstimate::solve(&network(places, edges), 0, &RULES)
}

/// Returns the places at which levels begin.
fn begins(placement: &LevelEstimate, places: usize) -> Vec<usize> {
    (1..places)
        .filter(|place| placement.part(*place) == placement.part(place - 1))
        .filter(|place| !placement.is_one_level(place - 1, *place))
        .collect()
}

fn close(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-9, "{found} is not {expected}");
}

/// Generates random numbers: uniform between 0 and 1, nearly normal, and indexes.
struct RandomNumbers(Draws);

impl RandomNumbers {
    fn new(seed: u64) -> Self {
        let stream = Stream {
            seed,
            name: "edges",
        };
        Self(Draws::new(stream, 0))
    }

    fn uniform(&mut self) -> f64 {
        (self.0.index(u32::MAX) as f64 + 0.5) / f64::from(u32::MAX)
    }

    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }

    fn below(&mut self, count: usize) -> usize {
        self.0.index(u32::try_from(count).unwrap())
    }
}

#[test]
fn a_triangle_is_solved_as_by_hand() {
    // x1 = y01 + e, x2 - x1 = y12 + e, x2 = y02 - e with e = (0.23 - 0.10 - 0.10) / 3.
    let edges = [
        edge(0, 1, 0.10, 0.02),
        edge(1, 2, 0.10, 0.02),
        edge(0, 2, 0.23, 0.02),
    ];
    let placement = placed(3, &edges);
    assert_eq!(begins(&placement, 3), [1, 2]);
    close(placement.value(0).unwrap(), 0.0);
    close(placement.value(1).unwrap(), 0.11);
    close(placement.value(2).unwrap(), 0.22);
    // Two paths lead from place 0 to place 2, with variances of 1 and 2. Together they have a variance of 2 / 3.
    let half = 1.959_963_984_540_054 * 0.02 * (2.0_f64 / 3.0).sqrt();
    let change = placement.change(0, 2).unwrap();
    close(change.lower.ln_1p(), 0.22 - half);
    close(change.upper.ln_1p(), 0.22 + half);
    let back = placement.change(2, 1).unwrap();
    close(back.estimate.ln_1p(), -0.11);
}

#[test]
fn several_edges_of_a_step_are_their_weighted_mean() {
    // The weights are 4 and 1.
    let edges = [edge(0, 1, 0.10, 0.01), edge(0, 1, 0.125, 0.02)];
    let placement = placed(2, &edges);
    close(placement.value(1).unwrap(), 0.105);
    // The weighted squares are 0.8 * 1.5625 = 1.25 with one degree of freedom: the errors are larger than claimed.
    let half = 1.959_963_984_540_054 * (1.25_f64 / 12_500.0).sqrt();
    close(placement.change(0, 1).unwrap().upper.ln_1p(), 0.105 + half);
}

#[test]
fn many_small_changes_add_up_to_nothing() {
    let edges: Vec<Edge> = (0..60)
        .map(|at| edge(at, at + 1, 0.004 * f64::from(u8::from(at % 3 == 0)), 0.004))
        .collect();
    let placement = placed(61, &edges);
    assert_eq!(begins(&placement, 61), [0; 0]);
    let change = placement.change(0, 60).unwrap();
    assert_eq!(
        (change.lower, change.estimate, change.upper),
        (0.0, 0.0, 0.0)
    );
    assert_eq!(placement.trends(), []);
}

#[test]
fn a_creeping_change_beyond_its_own_error_is_a_trend() {
    // Each commit adds three per mille, which is within its error. Three more measurements are against the first commit.
    let mut edges: Vec<Edge> = (0..60).map(|at| edge(at, at + 1, 0.003, 0.003)).collect();
    edges.extend([20, 40, 60].map(|at| edge(0, at, 0.003 * at as f64, 0.2)));
    let placement = placed(61, &edges);
    let trends = placement.trends();
    assert_eq!(trends.len(), 1, "{trends:?}");
    assert_eq!((trends[0].first, trends[0].last), (0, 60));
    let change = trends[0].change;
    close(change.estimate.ln_1p(), 0.18);
    // Sixty independent errors of 0.3 % add up to sqrt(60) times 0.3 %, which is 2.3 %.
    assert!(
        change.lower.ln_1p() > 0.13 && change.lower.ln_1p() < 0.14,
        "{change:?}"
    );
    close(placement.value(30).unwrap(), 0.09);
}

#[test]
fn a_called_change_begins_a_level_that_chance_could_explain_and_one_below_the_threshold_does_not() {
    let calls = |log_ratio| {
        let mut edges: Vec<Edge> = (0..40).map(|at| edge(at, at + 1, 0.0, 0.006)).collect();
        edges[19].log_ratio = log_ratio;
        edges[19].called = true;
        begins(&placed(41, &edges), 41)
    };
    assert_eq!(calls(0.025), [20]);
    assert_eq!(calls(0.009), [0; 0]);
}

#[test]
fn a_level_that_is_measured_again_and_again_against_one_reference_is_one() {
    // The step came with place 3, whose run was disturbed. It is not accepted yet, so later runs are still compared with place 2.
    let edges = [
        edge(0, 1, 0.001, 0.003),
        edge(1, 2, -0.002, 0.003),
        edge(2, 3, 0.035, 0.02),
        edge(2, 4, 0.051, 0.003),
        edge(2, 5, 0.049, 0.003),
        edge(2, 6, 0.050, 0.003),
    ];
    let placement = placed(7, &edges);
    assert_eq!(begins(&placement, 7), [3]);
    let change = placement.change(0, 6).unwrap();
    assert!((change.estimate.ln_1p() - 0.05).abs() < 0.001, "{change:?}");
}

#[test]
fn what_no_edge_connects_has_no_change_and_circles_end() {
    let edges = [
        edge(0, 1, 0.2, 0.002),
        edge(1, 0, -0.2, 0.002),
        edge(2, 3, 0.1, 0.002),
        edge(3, 3, 0.5, 0.001),
    ];
    let placement = placed(5, &edges);
    let parts: Vec<Option<usize>> = (0..5).map(|place| placement.part(place)).collect();
    assert_eq!(parts, [Some(0), Some(0), Some(1), Some(1), None]);
    assert_eq!(
        (
            placement.first_place_of_part(1),
            placement.first_place_of_part(2)
        ),
        (Some(2), None)
    );
    assert_eq!(placement.change(1, 2), None);
    assert!(!placement.is_one_level(0, 2) && !placement.is_one_level(1, 3));
    assert_eq!((placement.value(4), placement.change(0, 9)), (None, None));
    close(placement.value(1).unwrap(), 0.2);
    assert!(placed(3, &[]).part(0).is_none());
}

/// Creates `count` random edges of a network that has `places` places and `others` other nodes.
fn random(seed: u64, places: usize, others: usize, count: usize) -> Vec<Edge> {
    let mut chance = RandomNumbers::new(seed);
    (0..count)
        .map(|at| {
            // Chain the places, so that they are connected.
            let from = if at + 1 < places {
                at
            } else {
                chance.below(places + others)
            };
            let to = if at + 1 < places {
                at + 1
            } else {
                chance.below(places + others)
            };
            let error = 0.002 + 0.004 * chance.uniform();
            edge(from, to, 0.02 * chance.normal(), error)
        })
        .filter(|edge| edge.from != edge.to)
        .collect()
}

/// Computes least squares over groups of all nodes by Gaussian elimination, as a check. Returns the values relative to group 0, and the residual
/// squares.
fn brute(edges: &[Edge], group: &dyn Fn(usize) -> usize, groups: usize) -> (Vec<f64>, f64) {
    let mut rows = vec![vec![0.0; groups + 1]; groups];
    for edge in edges {
        let (a, b) = (group(edge.from), group(edge.to));
        let weight = edge.standard_error.powi(-2);
        for (one, other, sign) in [(a, b, -1.0), (b, a, 1.0)] {
            rows[one][one] += weight;
            rows[one][other] -= weight;
            rows[one][groups] += sign * weight * edge.log_ratio;
        }
    }
    rows[0] = vec![0.0; groups + 1];
    rows[0][0] = 1.0;
    for column in 0..groups {
        let best = (column..groups)
            .max_by(|a, b| rows[*a][column].abs().total_cmp(&rows[*b][column].abs()))
            .unwrap();
        rows.swap(column, best);
        let pivot = rows[column].clone();
        if pivot[column].abs() < 1e-9 {
            continue;
        }
        for (at, row) in rows.iter_mut().enumerate() {
            if at != column {
                let factor = row[column] / pivot[column];
                row.iter_mut()
                    .zip(&pivot)
                    .for_each(|(x, p)| *x -= factor * p);
            }
        }
    }
    let values: Vec<f64> = (0..groups)
        .map(|at| rows[at][groups] / rows[at][at])
        .collect();
    let squares = edges.iter().map(|edge| {
        let expected = values[group(edge.to)] - values[group(edge.from)];
        ((edge.log_ratio - expected) / edge.standard_error).powi(2)
    });
    let squares = squares.sum();
    (values, squares)
}

#[test]
fn a_reduced_network_is_solved_as_the_whole_one_by_brute_force() {
    for (seed, others, count) in [(1, 0, 40), (2, 6, 60), (3, 30, 200), (4, 90, 900)] {
        let edges = random(seed, 20, others, count);
        let network = network(20, &edges);
        let components = Component::find_all(&network, |_| true);
        assert_eq!(components.len(), 1);
        let begin: Vec<bool> = (0..20).map(|place| place % 7 == 3).collect();
        let groups = NodeGroups::from_level_starts(&begin, components[0].nodes);
        let fit = groups.fit(&components[0]).unwrap();
        let level = |place: usize| (1..=place).filter(|place| begin[*place]).count();
        let known: Vec<usize> = (20..network.nodes)
            .filter(|node| {
                edges
                    .iter()
                    .any(|edge| edge.from == *node || edge.to == *node)
            })
            .collect();
        let group = |node: usize| match known.iter().position(|other| *other == node) {
            Some(at) => 4 + at,
            None => level(node),
        };
        let (values, squares) = brute(&edges, &group, 4 + known.len());
        for (found, expected) in fit.values.iter().zip(&values[..4]) {
            assert!(
                (found - expected).abs() < 1e-9,
                "{seed}: {found} {expected}"
            );
        }
        assert!((fit.squares / squares - 1.0).abs() < 1e-9, "{seed}");
        let df = components[0].observations - groups.rank();
        assert_eq!(df, edges.len() - 3 - known.len(), "{seed}");
    }
}

#[test]
fn a_node_without_a_place_is_eliminated_if_it_has_few_neighbors() {
    // The tag (node 10) has an edge to this many places.
    let stays = |neighbors: usize| {
        let mut edges: Vec<Edge> = (0..9).map(|at| edge(at, at + 1, 0.0, 0.01)).collect();
        edges.extend((0..neighbors).map(|at| edge(10, at, 0.2, 0.01)));
        Component::find_all(&network(10, &edges), |_| true)[0].nodes > 10
    };
    assert_eq!(
        [1, 2, 8, 9, 10].map(stays),
        [false, false, false, true, true]
    );
}

#[test]
fn a_change_called_against_a_node_without_a_place_is_between_no_two_places() {
    // The tag has so many neighbors that it is not eliminated.
    let edges: Vec<Edge> = (0..9)
        .flat_map(|at| [edge(at, at + 1, 0.0, 0.01), edge(10, at, 0.2, 0.01)])
        .map(|edge| Edge {
            called: true,
            ..edge
        })
        .collect();
    let component = &Component::find_all(&network(10, &edges), |_| true)[0];
    assert_eq!((component.places.len(), component.nodes), (10, 11));
    let called: Vec<(usize, usize)> = (component.called.iter())
        .map(|change| (change.earlier, change.later))
        .collect();
    assert!(
        called.iter().copied().eq((0..9).map(|at| (at, at + 1))),
        "{called:?}"
    );
}

#[test]
fn edges_between_states_of_the_same_code_are_no_observations() {
    let observations = |edges: &[Edge]| {
        let found = Component::find_all(&network(3, edges), |_| true);
        found[0].observations
    };
    let (measured, same_code) = (edge(0, 1, 0.1, 0.01), Edge::between_same_code(1, 2, 0));
    assert_eq!(observations(&[measured, same_code]), 1);
    assert_eq!(observations(&[measured, edge(1, 2, 0.0, 2e-5)]), 2);
    assert_eq!(observations(&[same_code]), 0);
    // A state without a place is measured against two places. Its own value uses up one of these observations.
    let outside = [edge(3, 0, 0.1, 0.01), edge(3, 1, 0.1, 0.01), measured];
    assert_eq!(observations(&outside), 2);
}

#[test]
fn places_are_grouped_into_levels_and_other_nodes_are_alone() {
    let grouped = |begins: &[bool], nodes| {
        let groups = NodeGroups::from_level_starts(begins, nodes);
        (groups.of_node, groups.count)
    };
    let begins = [false, false, true, false, true];
    assert_eq!(grouped(&begins, 7), (vec![0, 0, 1, 1, 2, 3, 4], 5));
    // The first level begins at the first place in any case.
    let begins = [true, false, true];
    assert_eq!(grouped(&begins, 3), (vec![0, 0, 1], 2));
}

#[test]
fn a_trend_grows_evenly_from_the_first_place_of_its_level_to_the_last() {
    let groups = NodeGroups::from_level_starts(&[false, false, false, true, false], 6);
    let grows = |level: usize, a: usize, b: usize| {
        let (difference, weight) = (0.0, 1.0);
        groups.trend_factor(
            level,
            &Weighted {
                a,
                b,
                difference,
                weight,
            },
        )
    };
    assert_eq!((grows(0, 0, 1), grows(0, 0, 2)), (0.5, 1.0));
    assert_eq!((grows(1, 3, 4), grows(1, 2, 4)), (1.0, 1.0));
    // An edge backward, an edge into another level, and an edge to a node without a place.
    assert_eq!(
        (grows(0, 2, 1), grows(0, 1, 3), grows(0, 2, 5)),
        (-0.5, -0.5, -1.0)
    );
}

#[test]
fn what_a_sweep_says_of_a_place_is_what_another_level_there_gives() {
    // In the last case, there are more than twice as many nodes as places, because nodes with many neighbors stay.
    for (seed, others, count) in [
        (1, 12, 120),
        (2, 12, 120),
        (3, 12, 120),
        (4, 12, 120),
        (5, 12, 120),
        (6, 40, 700),
    ] {
        let edges = random(seed, 30, others, count);
        let network = network(30, &edges);
        let component = &Component::find_all(&network, |_| true)[0];
        assert_eq!(component.nodes > 60, others == 40, "{}", component.nodes);
        let mut begin = vec![false; 30];
        (begin[9], begin[10], begin[22]) = (true, true, true);
        let groups = NodeGroups::from_level_starts(&begin, component.nodes);
        let fit = groups.fit(component).unwrap();
        let search = Search::new(component, &RULES);
        let candidates = search.candidates(&groups, &fit, 0..30);
        assert_eq!(candidates.len(), 30 - 4);
        // Moving a place between its neighbors needs only the candidates of one level: here the level from place 10 to place 22.
        let of_level = search.candidates(&groups, &fit, 10..22);
        let places = of_level.iter().map(|one| one.place);
        assert!(places.eq((11..22).rev()), "{of_level:?}");
        for candidate in candidates {
            let mut with = begin.clone();
            with[candidate.place] = true;
            let after = NodeGroups::from_level_starts(&with, component.nodes)
                .fit(component)
                .unwrap();
            let gain = fit.squares - after.squares;
            assert!(
                (candidate.gain - gain).abs() < 1e-7 * fit.squares,
                "{candidate:?} {gain}"
            );
        }
    }
}

#[test]
fn what_both_classes_measured_against_without_a_place_is_no_disagreement() {
    // Two places are 10 % apart. Both are measured against eight tags, on both processors, which agree.
    let disagreements = (0..200).filter(|seed| {
        let mut chance = RandomNumbers::new(*seed);
        let mut edges = vec![Edge {
            called: true,
            ..edge(0, 1, 0.1 + 0.003 * chance.normal(), 0.003)
        }];
        for (place, value) in [(0, 0.0), (1, 0.1)] {
            for (tag, class) in (2..10).flat_map(|tag| [(tag, 0), (tag, 1)]) {
                edges.push(Edge {
                    class,
                    ..edge(tag, place, value + 0.003 * chance.normal(), 0.003)
                });
            }
        }
        let placement = LevelEstimate::solve(&network(2, &edges), 0, &RULES);
        placement.disagreement.is_some()
    });
    assert!(disagreements.count() <= 2);
}

#[test]
fn classes_that_agree_are_together_and_those_that_do_not_are_apart() {
    // Both classes measure each commit. At place 20 class 1 has a step of `of_other` instead of 0.04; at place 30 the classes have opposite steps of
    // size `later`.
    let measured = |of_other: f64, later: f64| {
        let mut chance = RandomNumbers::new(7);
        let edges: Vec<Edge> = (0..40)
            .flat_map(|at| [(at, 0), (at, 1)])
            .map(|(at, class)| {
                let step = match (at, class) {
                    (19, 0) => 0.04,
                    (19, _) => of_other,
                    (29, 0) => -later,
                    (29, _) => later,
                    _ => 0.0,
                };
                Edge {
                    class,
                    ..edge(at, at + 1, step + 0.003 * chance.normal(), 0.003)
                }
            })
            .collect();
        LevelEstimate::solve(&network(41, &edges), 1, &RULES)
    };
    let together = measured(0.04, 0.0);
    assert_eq!(together.disagreement, None);
    assert_eq!(begins(&together, 41), [20]);
    let apart = measured(0.0, 0.0);
    let disagreement = apart.disagreement.clone().unwrap();
    assert!(disagreement.p_value <= LEVEL_P, "{disagreement:?}");
    assert_eq!(disagreement.place, Some(20));
    assert_eq!(disagreement.changes.len(), 2);
    for (found, (class, step)) in disagreement.changes.iter().zip([(0, 0.04), (1, 0.0)]) {
        assert_eq!(found.class, class);
        assert!((found.change.estimate - step).abs() < 0.01, "{found:?}");
    }
    // Steps that only the other class shows are not part of this history.
    assert_eq!(begins(&apart, 41), [0; 0]);
    // Opposite changes that cancel each other are found, too.
    let opposite = measured(0.04, 0.03);
    assert_eq!(opposite.disagreement.clone().unwrap().place, Some(30));
    assert_eq!(begins(&opposite, 41), [20, 30]);
}

#[test]
fn the_step_that_classes_disagree_about_most_is_told_as_each_of_them_measured_it() {
    // Cochran's Q of two classes with equal errors is their squared distance over twice the variance. It is 200 at place 1. At place 2, with the
    // smallest errors and the largest steps, it is 12.5. At place 3, with the largest distance, it is 50.
    let steps = [
        (0, [0.10, 0.02], 0.004),
        (1, [0.50, 0.49], 0.002),
        (2, [0.30, 0.10], 0.02),
    ];
    let edges: Vec<Edge> = (steps.iter())
        .flat_map(|(at, of_classes, error)| {
            let classes = of_classes.iter().enumerate();
            classes.map(move |(class, step)| Edge {
                class,
                ..edge(*at, at + 1, *step, *error)
            })
        })
        .collect();
    let placement = LevelEstimate::solve(&network(4, &edges), 0, &RULES);
    let disagreement = placement.disagreement.unwrap();
    assert_eq!(disagreement.place, Some(1));
    let half = 1.959_963_984_540_054 * 0.004;
    for (found, (class, step)) in disagreement.changes.iter().zip([(0, 0.10), (1, 0.02)]) {
        assert_eq!(found.class, class);
        close(found.change.lower.ln_1p(), step - half);
        close(found.change.estimate.ln_1p(), step);
        close(found.change.upper.ln_1p(), step + half);
    }
    assert_eq!(disagreement.changes.len(), 2);
}

#[test]
fn classes_may_disagree_about_a_step_in_any_part_of_the_history() {
    // No edge connects the first two places with the last two.
    for (disagree, place) in [(0, 1), (2, 3)] {
        let edges: Vec<Edge> = [(0, 0), (0, 1), (2, 0), (2, 1)]
            .map(|(at, class)| {
                let is_other = at == disagree && class == 1;
                Edge {
                    class,
                    ..edge(at, at + 1, if is_other { 0.02 } else { 0.10 }, 0.002)
                }
            })
            .to_vec();
        let placement = LevelEstimate::solve(&network(4, &edges), 0, &RULES);
        let disagreement = placement.disagreement.unwrap();
        assert_eq!(disagreement.place, Some(place));
        let steps = disagreement.changes.iter();
        let steps: Vec<f64> = steps.map(|found| found.change.estimate.ln_1p()).collect();
        assert_eq!(steps.len(), 2);
        close(steps[0], 0.10);
        close(steps[1], 0.02);
    }
}

#[test]
fn a_class_without_edges_of_its_own_has_no_places() {
    let of = |class, log_ratio| Edge {
        class,
        ..edge(0, 1, log_ratio, 0.002)
    };
    let edges = [of(0, 0.10), of(1, 0.02)];
    let placement = LevelEstimate::solve(&network(2, &edges), 2, &RULES);
    assert!(placement.disagreement.is_some());
    assert_eq!(placement.part(0), None);
}

/// What was found in a simulated history.
struct Simulated {
    /// The places at which levels begin.
    begins: Vec<usize>,
    /// The difference between the estimated and the true change from the first commit to the newest, without its sign. Changes are logarithms.
    error: f64,
}

/// Simulates 128 commits. Two machines with separate stores measure each of them: machines 1 and 2 in the first half of the history, 3 and 4 in the
/// second. A machine measures each commit against its last accepted run, and every 16th commit also against the first one.
fn simulated(seed: u64, steps: &[(usize, f64)]) -> Simulated {
    let mut chance = RandomNumbers::new(seed);
    let truth = |commit: usize| -> f64 {
        let so_far = steps.iter().filter(|(at, _)| *at <= commit);
        so_far.map(|(_, step)| step.ln_1p()).sum()
    };
    let threshold = RULES.noise_threshold.ln_1p();
    let mut references = [0; 2];
    let mut regressed = [0; 2];
    let mut edges = Vec::new();
    for commit in 1..128 {
        for machine in 0..2 {
            let mut measure = |chance: &mut RandomNumbers, base: usize| {
                let error = 0.002 + 0.003 * chance.uniform();
                // Machines 3 and 4 are of another class.
                let class = usize::from(commit >= 64);
                let log_ratio = truth(commit) - truth(base) + error * chance.normal();
                let called = log_ratio.abs() - 2.65 * error > threshold;
                edges.push(Edge {
                    called,
                    class,
                    ..edge(base, commit, log_ratio, error)
                });
                let is_same = log_ratio.abs() + 2.65 * error <= threshold;
                (called && log_ratio > 0.0, called || is_same)
            };
            let (is_slower, is_settled) = measure(&mut chance, references[machine]);
            regressed[machine] += usize::from(is_slower);
            if is_settled && (!is_slower || regressed[machine] == 3) {
                (references[machine], regressed[machine]) = (commit, 0);
            }
            if commit % 16 == 0 {
                measure(&mut chance, 0);
            }
        }
    }
    let placement = LevelEstimate::solve(&network(128, &edges), 1, &RULES);
    assert_eq!(placement.disagreement, None, "{seed}");
    assert_eq!(placement.trends(), [], "{seed}");
    let change = placement.change(0, 127).unwrap();
    Simulated {
        begins: begins(&placement, 128),
        error: (change.estimate.ln_1p() - truth(127)).abs(),
    }
}

#[test]
fn steps_of_two_per_cent_are_located_within_a_commit_over_machines_that_were_swapped() {
    let planted = [
        (15, 0.02),
        (38, -0.02),
        (60, 0.02),
        (80, 0.02),
        (110, -0.02),
    ];
    for seed in 0..20 {
        let found = simulated(seed, &planted);
        assert_eq!(
            found.begins.len(),
            planted.len(),
            "{seed}: {:?}",
            found.begins
        );
        for (begins, (place, _)) in found.begins.iter().zip(planted) {
            assert!(
                begins.abs_diff(place) <= 1,
                "{seed}: {begins} is not {place}"
            );
        }
        assert!(found.error <= 0.005, "{seed}: {}", found.error);
    }
}

#[test]
fn twenty_histories_without_a_step_have_none() {
    for seed in 100..120 {
        let found = simulated(seed, &[]);
        assert_eq!(found.begins, [0; 0], "{seed}");
        assert!(found.error.abs() < 1e-12, "{seed}");
    }
}

#[test]
fn a_class_has_no_share_in_a_disagreement_about_a_step_before_its_first_place() {
    // Class 0 measured the whole history, class 1 only its end. They disagree about the step at place 3. The step at place 1 is larger, but only
    // class 0 measured it.
    let of = |class, at: usize, step| Edge {
        class,
        ..edge(at, at + 1, step, 0.002)
    };
    let edges = [of(0, 0, 0.5), of(0, 1, 0.0), of(0, 2, 0.1), of(1, 2, 0.02)];
    let placement = LevelEstimate::solve(&network(4, &edges), 0, &RULES);
    let disagreement = placement.disagreement.unwrap();
    assert_eq!(disagreement.place, Some(3));
    let changes = disagreement.changes.iter();
    let steps: Vec<f64> = changes.map(|found| found.change.estimate.ln_1p()).collect();
    assert_eq!(steps.len(), 2);
    close(steps[0], 0.1);
    close(steps[1], 0.02);
}

#[test]
fn a_step_that_one_class_alone_shows_is_a_disagreement() {
    // Class 2 has such small errors that any two classes together have no step, and classes 0 and 1 have opposite ones.
    let of = |class, step, error| Edge {
        class,
        ..edge(0, 1, step, error)
    };
    let edges = [of(0, 0.1, 2e-3), of(1, -0.1, 2e-3), of(2, 0.0, 1e-4)];
    let placement = LevelEstimate::solve(&network(2, &edges), 0, &RULES);
    let disagreement = placement.disagreement.unwrap();
    assert_eq!(disagreement.place, Some(1));
    let classes = disagreement.changes.iter().map(|found| found.class);
    assert_eq!(classes.collect::<Vec<_>>(), [0, 1, 2]);
}
