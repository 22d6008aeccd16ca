//! `sessile bench`: runs benchmarks and prints the cost per simulated second.

use std::io::{Write, stdout};

use sessile_validation::bench::{choose, run, text};

use crate::args::BenchArgs;
use crate::benches::benches;
use crate::commands::{on_threads, threads};
use crate::failure::Failure;
use crate::stderr;

/// Runs the chosen benches one after the other; prints each report as soon as it is there.
pub fn bench(args: &BenchArgs) -> Result<(), Failure> {
    let chosen = choose(&benches(), &args.names).map_err(Failure::wrong)?;
    for bench in &chosen {
        stderr::line(&format!("{}: {}", bench.name, bench.about));
        let report =
            on_threads(threads(args.threads), || run(bench, &|note| stderr::line(&format!("{}: {note}", bench.name))))?
                .map_err(|error| Failure::failed(format!("bench {}: {error}", bench.name)))?;
        let mut out = stdout().lock();
        if args.json {
            writeln!(out, "{}", serde_json::json!(report))?;
        } else {
            write!(out, "{}", text(&report))?;
        }
        out.flush()?;
    }
    Ok(())
}
