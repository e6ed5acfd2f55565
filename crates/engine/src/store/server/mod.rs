//! A team's store: the same tables in PostgreSQL.
//!
//! A session connects, checks that the database is a store of ours that this program knows, and runs the statements of
//! [`super::sql`]. Runs come in whole ([`bulk`]).

mod address;
mod bulk;
mod points;
mod scripts;
mod session;
mod surroundings;
#[cfg(test)]
mod tests;
mod upgrade;
mod values;

pub(super) use session::TeamSession;
