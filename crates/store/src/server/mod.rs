//! A team's store: the same tables in PostgreSQL.
//!
//! A session connects, checks that the database has a store of a supported version, and runs the statements of
//! [`super::sql`]. Runs are transferred as a whole ([`bulk`]).

mod address;
mod bulk;
mod session;
#[cfg(test)]
mod tests;
mod values;

pub(super) use session::TeamSession;
