//! Criterion before 0.3.3: it knows no runner, prints, and writes what it measured to files. Of some benchmarks it writes nonsense.

use fakes_criterion::wanted;
use std::path::PathBuf;
use std::{env, fs};

const IDS: [&str; 7] = [
    "first",
    "steps",
    "unfinished",
    "garbage",
    "uneven columns",
    "dies",
    "last",
];

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let has = |flag: &str| arguments.iter().any(|argument| argument == flag);
    if has("--list") {
        // `^` is in every id, where it is an expression.
        for id in IDS.iter().filter(|id| has("^") || wanted(id)) {
            println!("{id}: bench");
        }
        return;
    }
    println!("Gnuplot not found, using plotters backend");
    for id in IDS.iter().filter(|id| wanted(id)) {
        println!("Benchmarking {id}");
        if arguments.len() == 1 {
            // It was only asked who it is, and would write into the user's `target` next.
            std::thread::park();
        }
        assert!(has("--sample-size"), "it was told nothing");
        println!("{id}                    time:   [1.0000 us 1.0000 us 1.0000 us]");
        let (sample, table) = match *id {
            "steps" => ("[[1.0,2.0],[3000.0,6000.0]]", "3,step,1\n,,,,,6,step,2"),
            "garbage" => ("[[1.0", ""),
            "uneven columns" => ("[[1.0,2.0],[1000.0]]", ""),
            "dies" => panic!("its last words"),
            _ => ("[[1000.0,2000.0],[1000000.0,2000000.0]]", ""),
        };
        let target = env::var_os("CARGO_TARGET_DIR").expect("it is told where to write");
        let directory = PathBuf::from(target).join(format!("criterion/{id}/new"));
        fs::create_dir_all(&directory).expect("a directory");
        let write = |name, text: &str| fs::write(directory.join(name), text).expect("it can write");
        write("sample.json", sample);
        let head = "group,function,value,throughput_num,throughput_type,sample_measured_value,unit,iteration_count";
        write("raw.csv", &format!("{head}\n,,,,,{table}\n"));
        if *id != "unfinished" {
            write(
                "benchmark.json",
                &format!(r#"{{"throughput":{{"Bytes":5}},"full_id":"{id}","title":"{id}"}}"#),
            );
        }
    }
}
