//! Histories as people read them.
