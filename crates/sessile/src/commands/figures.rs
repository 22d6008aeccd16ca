//! `sessile figures`: runs the papers' figures and writes their page.

use std::io::{Write, stdout};
use std::time::Instant;

use sessile_figures::{FIGURES, Figure, FigureError, FigureRecord, MakeOptions, find, make, write_page};

use crate::args::FiguresArgs;
use crate::failure::Failure;
use crate::interrupt;
use crate::stderr;

/// Makes the figures one after the other, with one line for each, and prints where the page is.
pub fn figures(args: &FiguresArgs) -> Result<(), Failure> {
    let figures = chosen(&args.names)?;
    let options = MakeOptions { folder: &args.out, quick: args.quick, threads: super::threads(args.threads) };
    let stop = interrupt::stop_flag();
    let mut failed = 0;
    for (number, figure) in figures.iter().enumerate() {
        let start = Instant::now();
        let record = make(figure, options, stop).map_err(failure)?;
        failed += usize::from(record.error.is_some());
        write_page(&args.out).map_err(failure)?;
        let seconds = start.elapsed().as_secs_f64();
        stderr::line(&format!("[{}/{}] {}, {seconds:.0} s", number + 1, figures.len(), summary(&record)));
    }
    writeln!(stdout(), "{}", args.out.join("index.html").display())?;
    match failed {
        0 => Ok(()),
        1 => Err(Failure::failed("1 figure failed; the same command tries it again")),
        n => Err(Failure::failed(format!("{n} figures failed; the same command tries them again"))),
    }
}

fn chosen(names: &[String]) -> Result<Vec<&'static Figure>, Failure> {
    if names.is_empty() {
        return Ok(FIGURES.iter().copied().flatten().collect());
    }
    names.iter().map(|name| find(name).map_err(Failure::wrong)).collect()
}

fn summary(record: &FigureRecord) -> String {
    match &record.error {
        Some(error) => format!("{}: failed: {error}", record.figure),
        None => {
            let held = record.measures.iter().filter(|measure| measure.ok).count();
            format!("{}: {held} of {} measures within bounds", record.figure, record.measures.len())
        }
    }
}

fn failure(error: FigureError) -> Failure {
    match error {
        FigureError::Stopped => Failure::Stopped(error.to_string()),
        error => Failure::failed(error),
    }
}
