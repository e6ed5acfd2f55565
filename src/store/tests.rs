//! Tests that look behind the interface of the store.
