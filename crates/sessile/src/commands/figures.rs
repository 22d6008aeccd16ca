//! `sessile figures`: runs the papers' figures and writes their page.

use std::io::{Write, stdout};
use std::time::Instant;

use sessile_figures::{FIGURES, Figure, FigureError, FigureRecord, MakeOptions, find, make, write_page};
use sessile_jobs::{Plan, Stage};

use crate::args::FiguresArgs;
use crate::commands::jobs::{self, Executed};
use crate::failure::Failure;
use crate::interrupt;
use crate::stderr;

/// Estimated CPU time of a figure, in s, at full size and with `--quick`.
const FIGURE_SECONDS: f64 = 600.0;
const QUICK_SECONDS: f64 = 30.0;

/// Makes the figures one after the other, with one line for each, and prints where the page is.
pub fn figures(args: &FiguresArgs) -> Result<(), Failure> {
    let mut figures = chosen(&args.names)?;
    if args.execution.on.is_some() || args.execution.jobs.is_some() {
        return make_in_parts(args, &figures);
    }
    if args.page {
        return write_page(&args.out).map_err(failure);
    }
    if let Some(part) = args.part {
        figures = figures.get(part).copied().into_iter().collect();
    }
    let options = MakeOptions { folder: &args.out, quick: args.quick, threads: super::threads(args.threads) };
    let stop = interrupt::stop_flag();
    let mut failed = 0;
    for (number, figure) in figures.iter().enumerate() {
        let start = Instant::now();
        let record = make(figure, options, stop).map_err(failure)?;
        failed += usize::from(record.error.is_some());
        if args.part.is_none() {
            write_page(&args.out).map_err(failure)?;
        }
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

/// Makes several figures at the same time, each in a process of its own, here or on a cluster.
fn make_in_parts(args: &FiguresArgs, figures: &[&'static Figure]) -> Result<(), Failure> {
    let quick = args.quick.then_some("--quick");
    let words = ["figures", "--out", "{folder}", "--threads", "{threads}", "--part", "{first}"];
    let make = words.into_iter().chain(quick).chain(figures.iter().map(|figure| figure.name));
    let seconds = if args.quick { QUICK_SECONDS } else { FIGURE_SECONDS };
    let stages = vec![
        Stage::new("figures", make, 0..figures.len() as u64).taking(seconds),
        Stage::new("gather", ["figures", "--out", "{folder}", "--page"], 0..1).uncounted(),
    ];
    let plan = Plan::new("figures", stages);
    plan.save_or_replace(&args.out).map_err(jobs::failure)?;
    let executed = jobs::execute_plan(&plan, &args.out, &args.execution, "figures")?;
    writeln!(stdout(), "{}", args.out.join("index.html").display())?;
    match executed {
        Executed::Submitted => Ok(()),
        Executed::Here(totals) => jobs::check(&plan, &args.out, totals, "figures"),
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
