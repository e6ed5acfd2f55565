//! The distributions from which processes are drawn, with their true values.

use perfcheck_tools::numbers::Numbers;

/// The distribution of a process's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// Normal, mean 100, standard deviation 5.
    Normal,
    /// Log-normal: 100 times the exponential of a normal value of standard deviation 0.3.
    LogNormal,
    /// 100 plus 3 times Student's t with three degrees of freedom, which has no fourth moment.
    HeavyTailed,
}

/// All shapes.
pub const SHAPES: [Shape; 3] = [Shape::Normal, Shape::LogNormal, Shape::HeavyTailed];

impl Shape {
    /// Returns the name of the shape.
    pub fn name(self) -> &'static str {
        match self {
            Self::Normal => "normal",
            Self::LogNormal => "log-normal",
            Self::HeavyTailed => "heavy-tailed",
        }
    }

    /// Draws one value.
    pub fn draw(self, numbers: &mut Numbers) -> f64 {
        match self {
            Self::Normal => 100.0 + 5.0 * numbers.normal(),
            Self::LogNormal => 100.0 * (0.3 * numbers.normal()).exp(),
            Self::HeavyTailed => {
                let squares: f64 = (0..3).map(|_| numbers.normal().powi(2)).sum();
                100.0 + 3.0 * numbers.normal() / (squares / 3.0).sqrt()
            }
        }
    }

    /// Draws `count` values.
    pub fn values(self, count: usize, numbers: &mut Numbers) -> Vec<f64> {
        (0..count).map(|_| self.draw(numbers)).collect()
    }

    /// Returns the true mean.
    pub fn mean(self) -> f64 {
        match self {
            Self::LogNormal => 100.0 * (0.3_f64.powi(2) / 2.0).exp(),
            _ => 100.0,
        }
    }

    /// Returns the true standard deviation.
    pub fn sd(self) -> f64 {
        match self {
            Self::Normal => 5.0,
            Self::LogNormal => self.mean() * 0.3_f64.powi(2).exp_m1().sqrt(),
            // The variance of Student's t with three degrees of freedom is 3.
            Self::HeavyTailed => 3.0 * 3.0_f64.sqrt(),
        }
    }
}
