//! Checks whether the fastest processes of a side agree. If they do not, the host was disturbed and their minimum (the floor) is an accident, so no
//! change is called.

use super::note::Note;
use crate::model::Side;

/// Returns a note if the floor of a side is too far below its other fast processes to call a change. The floor is compared with the slowest of the
/// fastest tenth of the processes, or with the second fastest of few. `launches` holds one logarithm of the time of an iteration for each process.
pub(super) fn note_lone_floor(side: Side, launches: &[f64]) -> Option<Note> {
    let mut sorted = launches.to_vec();
    sorted.sort_by(f64::total_cmp);
    let next = sorted.get((sorted.len().saturating_sub(1) / 10).max(1))?;
    let gap = (next - sorted[0]).exp_m1();
    let note = Note::LoneFloor { side, gap };
    note.withholds_changes().then_some(note)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gap(times: &[f64]) -> Option<f64> {
        let logarithms: Vec<f64> = times.iter().map(|time| time.ln()).collect();
        match note_lone_floor(Side::Base, &logarithms)? {
            Note::LoneFloor { gap, .. } => Some(gap),
            _ => None,
        }
    }

    #[test]
    fn a_floor_is_an_accident_where_no_tenth_of_the_launches_comes_near_it() {
        let found = gap(&[500.0, 125.0, 100.0, 99_000.0]);
        assert!((found.unwrap() - 0.25).abs() < 1e-9, "{found:?}");
        // However slow the other processes are, only the second fastest counts here.
        assert_eq!(gap(&[100.0, 119.0, 500.0, 900.0, 99_000.0]), None);
        assert_eq!(gap(&[100.0]), None);
        // Two of twenty-one processes may be fast by accident; three are a floor.
        let mut many = vec![160.0; 21];
        many[..2].fill(100.0);
        assert!(gap(&many).is_some());
        many[..3].fill(100.0);
        assert_eq!(gap(&many), None);
    }
}
