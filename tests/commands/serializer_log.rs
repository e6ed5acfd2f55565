//! A made-up log in the format of the serializer methodology's harness. The same seed gives the same bytes.

use std::fmt::Write as _;

use perfcheck_stats::{Draws, Stream, normal};

const DATA: [&str; 6] = [
    "Person",
    "Integer",
    "Telemetry",
    "SimpleObject",
    "StringArray",
    "ObjectGraph",
];
const REPETITIONS: u32 = 100;

/// Returns a log of ten serializers, six types of data and two modes, with a hundred repetitions each and a warm-up as repetition 0, in ticks of 100
/// ns. One value in fifty is disturbed. `slower` takes 8 % longer to serialize. Otherwise, logs with different seeds differ only by chance.
pub fn log(seed: u64, slower: Option<&str>) -> String {
    let name = "serializers";
    let mut draws = Draws::new(Stream { seed, name }, 0);
    let mut uniform = move || (draws.index(1 << 24) as f64 + 0.5) / f64::from(1 << 24);
    let mut log = "StringOrStream,TestDataName,Repetitions,RepetitionIndex,SerializerName,TimeSer,TimeDeser,Size\n".to_owned();
    for (serializer, pace) in (0..10).map(|s| (format!("S{s:02}"), 1.0 + 0.35 * f64::from(s))) {
        for (data, size) in DATA.into_iter().zip(0_u32..) {
            for (mode, cost) in [("string", 1.0), ("stream", 1.25)] {
                let base = 2_000.0 * pace * (1.0 + 1.7 * f64::from(size)) * cost;
                for repetition in 0..=REPETITIONS {
                    let mut noise =
                        || (0.02 * normal::quantile(uniform()).expect("between 0 and 1")).exp();
                    let (mut write, mut read) = (base * noise(), 1.6 * base * noise());
                    if uniform() < 0.02 {
                        write *= 1.3 + 1.7 * uniform();
                    }
                    if repetition == 0 {
                        (write, read) = (40.0 * write, 40.0 * read);
                    }
                    if slower == Some(&serializer) {
                        write *= 1.08;
                    }
                    let size = 100 + 37 * size;
                    writeln!(
                        log,
                        "{mode},{data},{REPETITIONS},{repetition},{serializer},{write:.0},{read:.0},{size}"
                    )
                    .expect("a string takes it");
                }
            }
        }
    }
    log
}
