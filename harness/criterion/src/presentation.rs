//! Criterion's options for plots and files. They are accepted without effect: nothing is plotted here, and `cargo perfcheck` stores the numbers.

/// Criterion's use of the directory of a baseline.
#[derive(Debug, Clone, Copy)]
pub enum Baseline {
    /// Compare with the baseline if it contains the benchmark.
    CompareLenient,
    /// Compare with the baseline, and fail if it lacks the benchmark.
    CompareStrict,
    /// Write the baseline.
    Save,
    /// Do not write the baseline.
    Discard,
}

/// The program or crate with which Criterion plots.
#[derive(Debug, Clone, Copy)]
pub enum PlottingBackend {
    /// The program `gnuplot`.
    Gnuplot,
    /// The crate `plotters`.
    Plotters,
    /// No plots.
    None,
}

/// The scale of an axis.
#[derive(Debug, Clone, Copy, Default)]
pub enum AxisScale {
    /// Linear.
    #[default]
    Linear,
    /// Logarithmic.
    Logarithmic,
}

/// The plot settings of a group.
#[derive(Debug, Clone, Default)]
pub struct PlotConfiguration {
    summary_scale: AxisScale,
}

impl PlotConfiguration {
    /// Sets the scale of the summary's axes.
    #[must_use]
    pub fn summary_scale(mut self, new_scale: AxisScale) -> Self {
        self.summary_scale = new_scale;
        self
    }
}
