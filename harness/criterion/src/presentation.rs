//! Choices that Criterion offers for its plots and its files. They are accepted and change nothing: nothing is plotted here,
//! and `cargo perfcheck` keeps the numbers.

/// What Criterion does with the directory of a baseline.
#[derive(Debug, Clone, Copy)]
pub enum Baseline {
    /// Compares with it where it has the benchmark.
    CompareLenient,
    /// Compares with it, and fails where it lacks the benchmark.
    CompareStrict,
    /// Writes it.
    Save,
    /// Does not write it.
    Discard,
}

/// What Criterion plots with.
#[derive(Debug, Clone, Copy)]
pub enum PlottingBackend {
    /// The program `gnuplot`.
    Gnuplot,
    /// The crate `plotters`.
    Plotters,
    /// Nothing.
    None,
}

/// How an axis is divided.
#[derive(Debug, Clone, Copy, Default)]
pub enum AxisScale {
    /// Evenly.
    #[default]
    Linear,
    /// By powers.
    Logarithmic,
}

/// How Criterion plots a group.
#[derive(Debug, Clone, Default)]
pub struct PlotConfiguration {
    summary_scale: AxisScale,
}

impl PlotConfiguration {
    /// The scale of the summary's axes.
    #[must_use]
    pub fn summary_scale(mut self, new_scale: AxisScale) -> Self {
        self.summary_scale = new_scale;
        self
    }
}
