//! `sessile bench`: what a simulated second costs.

use std::io::{Write, stdout};

use sessile_validation::bench::{choose, run, text};

use crate::args::BenchArgs;
use crate::benches::benches;
use crate::commands::on_threads;
use crate::failure::Failure;

/// Runs the chosen benches one after the other; prints each report as soon as it is there.
pub fn bench(args: &BenchArgs) -> Result<(), Failure> {
    let chosen = choose(&benches(), &args.names).map_err(Failure::wrong)?;
    for bench in &chosen {
        eprintln!("{}: {}", bench.name, bench.about);
        let report = on_threads(args.threads, || run(bench, &|note| eprintln!("{}: {note}", bench.name)))?
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
