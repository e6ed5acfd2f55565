//! Random numbers for simulations.

use perfcheck_stats::Draws;

/// Draws random numbers of several distributions.
pub struct Numbers(pub Draws);

impl Numbers {
    /// Returns a uniform number above 0 and below 1.
    pub fn uniform(&mut self) -> f64 {
        (self.0.index(u32::MAX) as f64 + 0.5) / f64::from(u32::MAX)
    }

    /// Returns a standard normal number (Box and Muller 1958).
    pub fn normal(&mut self) -> f64 {
        let (a, b) = (self.uniform(), self.uniform());
        (-2.0 * a.ln()).sqrt() * (std::f64::consts::TAU * b).cos()
    }

    /// Returns an exponential number with mean 1.
    pub fn exponential(&mut self) -> f64 {
        -self.uniform().ln()
    }
}
