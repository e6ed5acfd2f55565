//! Decisions about A/B measurements, situation by situation.
