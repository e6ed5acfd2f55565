//! Estimates the levels of the runs of a benchmark that were measured side by side. For this purpose, the runs form a network: its nodes are states
//! of the code, and its edges are side-by-side comparisons of two states.
//!
//! A state of the code is a clean commit together with its build settings. A run with uncommitted changes is a state of its own. So if several
//! machines compare the same two commits, their runs are edges between the same two nodes. If a commit is compared with a much older one, the edge
//! skips the commits between them. The states on the branch of the newest run are numbered from the oldest, even if the history does not show their
//! runs. This number is called the place of a state. States of other branches are nodes without a place.

use std::collections::{BTreeMap, HashMap};

use perfcheck_analysis::compare::{Edge, Estimate, Fact, LevelEstimate, Network, TrendRules};
use perfcheck_analysis::model::{BuildFacts, RunId, Verdict};
use perfcheck_store::{BranchFilter, MeasuredCode, RunLink, RunLinks};

/// Standard error that the logarithm of a ratio gets if almost nothing is known about the ratio. With 1, the ratio may well be wrong by a factor of
/// e.
const NEXT_TO_NOTHING: f64 = 1.0;

/// Levels of a benchmark's runs, estimated from side-by-side comparisons.
pub(super) struct PlacedRuns {
    pub(super) placement: LevelEstimate,
    /// The place of each run on the branch of the newest run. A place is the number of a state of the code, counted from the oldest state.
    places: BTreeMap<RunId, usize>,
    /// The oldest run at each place, by the number of the place.
    first_runs: Vec<RunId>,
    /// For each run of another branch, the connected part of the network that contains its base, and the logarithm of its value relative to the first
    /// place of that part.
    others: BTreeMap<RunId, (usize, f64)>,
    /// The host class (kind of processor) of each run that was measured side by side. A class is an index in `processors`.
    classes: BTreeMap<RunId, usize>,
    /// Name of the processor of each host class.
    processors: Vec<String>,
    /// Host class of the newest run.
    pub(super) newest_class: usize,
}

/// Identifies a state of the code.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum CodeStateKey {
    /// A clean commit with its build settings.
    Commit(String, BuildFacts),
    /// A run with uncommitted changes, which no other run can share.
    Run(RunId),
}

/// The rules for building the network.
pub(super) struct PlacingRules<'a> {
    /// Selects the runs that have a place: those of the shown branch or, if all branches are shown, those of the newest run's branch.
    pub(super) branch: BranchFilter<'a>,
    /// Facts of the build, such as the compiler, that may differ between two runs of the same state of the code.
    pub(super) allowed: &'a [Fact],
    pub(super) course: &'a TrendRules,
    /// The newest run. If host classes (kinds of processor) measured different changes between the same states, only the comparisons on the class of
    /// this run count.
    pub(super) newest: RunId,
}

impl PlacedRuns {
    /// Builds the network of the runs in `found`, and estimates their levels from it.
    pub(super) fn from_links(found: &RunLinks, rules: &PlacingRules<'_>) -> Self {
        let mut own: Vec<&RunLink> = found
            .links
            .iter()
            .filter(|link| (rules.branch).selects(link.code.run, link.branch.as_deref()))
            .collect();
        own.sort_by_key(|link| (link.at, link.code.run));
        let mut nodes = NodeNumbers::new(found, rules.allowed);
        let (mut places, mut first_runs) = (BTreeMap::new(), Vec::new());
        for link in &own {
            let node = nodes.node_id(&link.code);
            places.insert(link.code.run, node);
            if node == first_runs.len() {
                first_runs.push(link.code.run);
            }
        }
        let mut processors = Vec::new();
        let mut classes = BTreeMap::new();
        let mut class_of = |code: &MeasuredCode| {
            let host = &found.environments[&code.environment].host;
            let processor = (host.cpu.clone(), host.architecture.clone());
            let known = processors.iter().position(|known| *known == processor);
            known.unwrap_or_else(|| {
                processors.push(processor);
                processors.len() - 1
            })
        };
        let tolerance = rules.course.noise_threshold.ln_1p();
        let mut edges = Vec::new();
        // Order by time: an imported run and a run of an old commit may be older than runs with smaller numbers.
        let mut side_by_side: Vec<(&RunLink, &MeasuredCode)> = found
            .links
            .iter()
            .filter_map(|link| Some((link, link.base.as_ref()?)))
            .collect();
        side_by_side.sort_by_key(|(link, _)| (link.at, link.code.run));
        let mut of_runs = Vec::new();
        for (link, base) in side_by_side {
            let class = class_of(&link.code);
            classes.insert(link.code.run, class);
            let (from, to) = (nodes.node_id(base), nodes.node_id(&link.code));
            let edge = edge_from_link(link, from, to, class, tolerance);
            let run = link.code.run;
            of_runs.extend(edge.map(|edge| RunEdge { run, edge }));
            edges.extend(edge);
        }
        let newest = found
            .links
            .iter()
            .find(|link| link.code.run == rules.newest);
        let class = newest.map_or(0, |link| class_of(&link.code));
        let network = Network {
            places: first_runs.len(),
            nodes: nodes.known.len(),
            edges: &edges,
        };
        let placement = LevelEstimate::solve(&network, class, rules.course);
        let others = place_others(&placement, &of_runs, first_runs.len(), class);
        Self {
            placement,
            others,
            places,
            first_runs,
            classes,
            processors: processors.into_iter().map(|(cpu, _)| cpu).collect(),
            newest_class: class,
        }
    }

    /// Reports whether a run was measured side by side.
    pub(super) fn is_paired(&self, run: RunId) -> bool {
        self.classes.contains_key(&run)
    }

    /// Returns the number of the connected part of the network that contains the run, and the logarithm of the run's value relative to the first
    /// place of that part.
    pub(super) fn place(&self, run: RunId) -> Option<(usize, f64)> {
        if self.is_of_another_class(run) {
            return None;
        }
        match self.places.get(&run) {
            Some(place) => Some((self.placement.part(*place)?, self.placement.value(*place)?)),
            None => self.others.get(&run).copied(),
        }
    }

    /// Returns the change from one run to another, if side-by-side comparisons connect both.
    pub(super) fn change(&self, from: RunId, to: RunId) -> Option<Estimate> {
        self.placement
            .change(self.own_place(from)?, self.own_place(to)?)
    }

    /// If a new level begins between the run `before` and the run `here`, returns how uncertain the change is: half the width of the interval of its
    /// logarithm. Returns `None` if both runs are at the same level, or if no comparisons connect them.
    pub(super) fn step(&self, before: RunId, here: RunId) -> Option<f64> {
        let (one, other) = (self.own_place(before)?, self.own_place(here)?);
        let is_step = !self.placement.is_one_level(one, other);
        let change = self.placement.change(one, other).filter(|_| is_step)?;
        Some((change.upper.ln_1p() - change.lower.ln_1p()) / 2.0)
    }

    /// Reports whether a run does not count because its host class (kind of processor) measured other changes than that of the newest run.
    pub(super) fn is_of_another_class(&self, run: RunId) -> bool {
        let class = self.classes.get(&run);
        let disagrees = self.placement.disagreement.is_some();
        disagrees && class.is_some_and(|class| *class != self.newest_class)
    }

    /// Returns the place of a run on the branch. Returns `None` if the run has no place, or if its host class disagrees with that of the newest run.
    fn own_place(&self, run: RunId) -> Option<usize> {
        let place = self.places.get(&run).copied();
        place.filter(|_| !self.is_of_another_class(run))
    }

    pub(super) fn first_run(&self, place: usize) -> RunId {
        self.first_runs[place]
    }

    pub(super) fn processor(&self, class: usize) -> &str {
        &self.processors[class]
    }

    /// Returns the runs in the connected part of the network that has this number, newest first. Also returns runs that the history does not show.
    pub(super) fn runs_of(&self, part: usize) -> impl Iterator<Item = RunId> + '_ {
        let of_part = move |place: usize| self.placement.part(place) == Some(part);
        let runs = self.places.iter().rev();
        runs.filter(move |(_, place)| of_part(**place))
            .map(|(run, _)| *run)
    }
}

/// Assigns a node number to each state of the code.
struct NodeNumbers<'a> {
    known: HashMap<CodeStateKey, usize>,
    found: &'a RunLinks,
    allowed: &'a [Fact],
}

impl<'a> NodeNumbers<'a> {
    fn new(found: &'a RunLinks, allowed: &'a [Fact]) -> Self {
        Self {
            known: HashMap::new(),
            found,
            allowed,
        }
    }

    fn node_id(&mut self, code: &MeasuredCode) -> usize {
        let key = match &code.commit {
            Some(commit) => CodeStateKey::Commit(commit.clone(), self.build_facts(code)),
            None => CodeStateKey::Run(code.run),
        };
        let next = self.known.len();
        *self.known.entry(key).or_insert(next)
    }

    /// Returns the facts of the build, without those that may differ.
    fn build_facts(&self, code: &MeasuredCode) -> BuildFacts {
        let mut build = self.found.environments[&code.environment].build.clone();
        for fact in self.allowed {
            match fact {
                Fact::Rustc => build.rustc.clear(),
                Fact::Target => build.target.clear(),
                Fact::Profile => build.profile.clear(),
                Fact::Rustflags => build.rustflags.clear(),
                _ => {}
            }
        }
        build
    }
}

/// An edge of the network: the side-by-side comparison of a run with its base.
struct RunEdge {
    run: RunId,
    edge: Edge,
}

/// Handles the runs whose code has no place on the branch of the newest run. The value of such a run follows from the value of its base and the
/// change that the comparison of both found. Returns for each of these runs the connected part of the network that contains its base, and the
/// logarithm of its value.
fn place_others(
    placement: &LevelEstimate,
    of_runs: &[RunEdge],
    places: usize,
    class: usize,
) -> BTreeMap<RunId, (usize, f64)> {
    let mut known: HashMap<usize, (usize, f64)> = HashMap::new();
    let mut found = BTreeMap::new();
    // If processors disagree about the same changes, `placement` rests only on comparisons on the host class of the newest run.
    let counts = |edge: &Edge| placement.disagreement.is_none() || edge.class == class;
    for RunEdge { run, edge } in of_runs {
        if edge.to < places || !counts(edge) {
            continue;
        }
        let of_place = || Some((placement.part(edge.from)?, placement.value(edge.from)?));
        let base = known.get(&edge.from).copied().or_else(of_place);
        if let Some((part, value)) = base {
            let here = (part, value + edge.log_ratio);
            known.entry(edge.to).or_insert(here);
            found.insert(*run, here);
        }
    }
    found
}

/// Minimum standard error of a change whose own standard error is not known.
const LEAST_TOLD: f64 = 0.001;

/// Converts a side-by-side comparison to an edge. Returns `None` if the comparison says nothing about the time.
fn edge_from_link(
    link: &RunLink,
    from: usize,
    to: usize,
    class: usize,
    tolerance: f64,
) -> Option<Edge> {
    let is_called = matches!(link.verdict, Verdict::Regressed | Verdict::Improved);
    let is_settled = is_called || link.verdict == Verdict::Unchanged;
    let standard_error = match (link.change, link.standard_error) {
        (None, _) if link.verdict == Verdict::Unchanged => {
            return Some(Edge::between_same_code(from, to, class));
        }
        (None, _) if link.verdict != Verdict::Inconclusive => return None,
        (Some(_), Some(error)) if error > 0.0 && error.is_finite() => error,
        // Comparisons from other stores come without an interval.
        (Some(_), _) if is_settled && tolerance > 0.0 => tolerance.max(LEAST_TOLD),
        _ => NEXT_TO_NOTHING,
    };
    let log_ratio = link.change.unwrap_or(0.0).ln_1p();
    log_ratio.is_finite().then_some(Edge {
        from,
        to,
        log_ratio,
        standard_error,
        called: is_called || link.accepted,
        class,
    })
}
