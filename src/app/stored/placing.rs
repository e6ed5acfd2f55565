//! The runs of a benchmark that were measured in turn, as a network of edges between states of the code.
//!
//! A state of the code is a clean commit built in one way, else the run itself. So runs of the same two commits on several machines are edges between the
//! same nodes, and a run against a commit of long ago is an edge over all between. States of the branch in question are places of the history, oldest
//! first, also those that are not shown; the others are nodes without a place.

use std::collections::{BTreeMap, HashMap};

use perfcheck_analysis::compare::{CourseRules, Edge, Estimate, Fact, Network, Placement};
use perfcheck_analysis::model::{BuildFacts, RunId, Verdict};
use perfcheck_engine::store::{CodeState, RunLink, RunLinks};

/// Standard error of a comparison that says next to nothing: a factor of e.
const NEXT_TO_NOTHING: f64 = 1.0;

/// Where the runs of a benchmark stand by what was measured in turn.
pub(super) struct PlacedRuns {
    pub(super) placement: Placement,
    /// The place of each run of the branch.
    places: BTreeMap<RunId, usize>,
    /// The first run of each place.
    first_runs: Vec<RunId>,
    /// Of runs of other branches the part and the value of what they were measured in turn with, and their own change behind that.
    others: BTreeMap<RunId, (usize, f64)>,
    /// Of the runs that were measured in turn the class of the machine.
    classes: BTreeMap<RunId, usize>,
    /// The processor of each class.
    processors: Vec<String>,
    /// The class of the newest run.
    pub(super) newest_class: usize,
}

/// A state of the code.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum CodeKey {
    /// A clean commit, built in this way.
    Commit(String, BuildFacts),
    /// What nobody else can have: uncommitted changes.
    Run(RunId),
}

/// How the runs of a benchmark become a network.
pub(super) struct PlacingRules<'a> {
    /// The branch of the newest run; `None`: of a detached `HEAD` or outside of git.
    pub(super) branch: Option<&'a str>,
    /// Facts that may differ within a state of the code.
    pub(super) allowed: &'a [Fact],
    pub(super) course: &'a CourseRules,
    /// The newest run, whose class of machines counts where classes disagree.
    pub(super) newest: RunId,
}

impl PlacedRuns {
    /// Places the runs of `found`.
    pub(super) fn of(found: &RunLinks, rules: &PlacingRules<'_>) -> Self {
        let mut own: Vec<&RunLink> = found
            .links
            .iter()
            .filter(|link| link.branch.as_deref() == rules.branch)
            .collect();
        own.sort_by_key(|link| (link.started, link.code.run));
        let mut nodes = Nodes::new(found, rules.allowed);
        let (mut places, mut first_runs) = (BTreeMap::new(), Vec::new());
        for link in &own {
            let node = nodes.of(&link.code);
            places.insert(link.code.run, node);
            if node == first_runs.len() {
                first_runs.push(link.code.run);
            }
        }
        let mut processors = Vec::new();
        let mut classes = BTreeMap::new();
        let mut class_of = |code: &CodeState| {
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
        // Oldest first, whatever the order in which numbers were given.
        let mut in_turn: Vec<(&RunLink, &CodeState)> = found
            .links
            .iter()
            .filter_map(|link| Some((link, link.base.as_ref()?)))
            .collect();
        in_turn.sort_by_key(|(link, _)| (link.started, link.code.run));
        let mut of_runs = Vec::new();
        for (link, base) in in_turn {
            let class = class_of(&link.code);
            classes.insert(link.code.run, class);
            let ends = (nodes.of(base), nodes.of(&link.code));
            let edge = edge(link, ends, class, tolerance);
            of_runs.extend(edge.map(|edge| (link.code.run, edge)));
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
        let placement = Placement::of(&network, class, rules.course);
        let others = others(&placement, &of_runs, first_runs.len(), class);
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

    /// Whether a run was measured in turn.
    pub(super) fn is_in_turn(&self, run: RunId) -> bool {
        self.classes.contains_key(&run)
    }

    /// The part of a run that edges connect with others, and ln of its value against the first of that part.
    pub(super) fn place(&self, run: RunId) -> Option<(usize, f64)> {
        if self.is_of_another_class(run) {
            return None;
        }
        match self.places.get(&run) {
            Some(place) => Some((self.placement.part(*place)?, self.placement.value(*place)?)),
            None => self.others.get(&run).copied(),
        }
    }

    /// The change from one run to another, as far as edges connect them.
    pub(super) fn change(&self, from: RunId, to: RunId) -> Option<Estimate> {
        self.placement
            .change(self.own_place(from)?, self.own_place(to)?)
    }

    /// Half the width of the interval of the step between two runs of one part, in logarithms; `None` within a level.
    pub(super) fn step(&self, before: RunId, here: RunId) -> Option<f64> {
        let (one, other) = (self.own_place(before)?, self.own_place(here)?);
        let is_step = !self.placement.is_one_level(one, other);
        let change = self.placement.change(one, other).filter(|_| is_step)?;
        Some((change.upper.ln_1p() - change.lower.ln_1p()) / 2.0)
    }

    /// Whether a run has no place because its machine measures other changes than that of the newest run.
    pub(super) fn is_of_another_class(&self, run: RunId) -> bool {
        let class = self.classes.get(&run);
        let disagrees = self.placement.disagreement.is_some();
        disagrees && class.is_some_and(|class| *class != self.newest_class)
    }

    /// The place of a run whose machine counts.
    fn own_place(&self, run: RunId) -> Option<usize> {
        let place = self.places.get(&run).copied();
        place.filter(|_| !self.is_of_another_class(run))
    }

    /// The first run of a place.
    pub(super) fn first_run(&self, place: usize) -> RunId {
        self.first_runs[place]
    }

    /// The processor of a class.
    pub(super) fn processor(&self, class: usize) -> &str {
        &self.processors[class]
    }

    /// The runs of a part, newest first, also those that are not shown.
    pub(super) fn runs_of(&self, part: usize) -> impl Iterator<Item = RunId> + '_ {
        let of_part = move |place: usize| self.placement.part(place) == Some(part);
        let runs = self.places.iter().rev();
        runs.filter(move |(_, place)| of_part(**place))
            .map(|(run, _)| *run)
    }
}

/// The numbers of states of the code.
struct Nodes<'a> {
    known: HashMap<CodeKey, usize>,
    found: &'a RunLinks,
    allowed: &'a [Fact],
}

impl<'a> Nodes<'a> {
    fn new(found: &'a RunLinks, allowed: &'a [Fact]) -> Self {
        Self {
            known: HashMap::new(),
            found,
            allowed,
        }
    }

    fn of(&mut self, code: &CodeState) -> usize {
        let key = match &code.commit {
            Some(commit) => CodeKey::Commit(commit.clone(), self.build(code)),
            None => CodeKey::Run(code.run),
        };
        let next = self.known.len();
        *self.known.entry(key).or_insert(next)
    }

    /// How it was built, but for what may differ.
    fn build(&self, code: &CodeState) -> BuildFacts {
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

/// Runs whose code has no place, by what they were measured in turn with.
fn others(
    placement: &Placement,
    of_runs: &[(RunId, Edge)],
    places: usize,
    class: usize,
) -> BTreeMap<RunId, (usize, f64)> {
    let mut known: HashMap<usize, (usize, f64)> = HashMap::new();
    let mut found = BTreeMap::new();
    // Where processors disagree, the placement is that of the newest run's.
    let counts = |edge: &Edge| placement.disagreement.is_none() || edge.class == class;
    for (run, edge) in of_runs
        .iter()
        .filter(|(_, edge)| edge.to >= places && counts(edge))
    {
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

/// The standard error of a change that was told without an interval, at least.
const LEAST_TOLD: f64 = 0.001;

/// What a comparison in turn says; `None` where it says nothing of the time.
fn edge(link: &RunLink, (from, to): (usize, usize), class: usize, tolerance: f64) -> Option<Edge> {
    let is_called = matches!(link.verdict, Verdict::Regressed | Verdict::Improved);
    let is_settled = is_called || link.verdict == Verdict::Unchanged;
    let standard_error = match (link.change, link.standard_error) {
        (None, _) if link.verdict == Verdict::Unchanged => {
            return Some(Edge::of_same_code(from, to, class));
        }
        (None, _) if link.verdict != Verdict::Inconclusive => return None,
        (Some(_), Some(error)) if error > 0.0 && error.is_finite() => error,
        // What was told of it elsewhere came without an interval.
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
