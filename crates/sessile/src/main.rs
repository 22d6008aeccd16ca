//! The command line: parse arguments, call, print.

mod args;
mod benches;
mod commands;
mod failure;
mod interrupt;
#[cfg(target_os = "linux")]
mod large_pages;
mod progress;
mod stderr;
mod table;

use std::io::Write;
use std::process::ExitCode;

use clap::Parser;

use crate::args::{Cli, Command};
use crate::failure::Failure;

fn main() -> ExitCode {
    interrupt::install();
    let done = dispatch(Cli::parse().command).and_then(|()| Ok(std::io::stdout().flush()?));
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

fn dispatch(command: Command) -> Result<(), Failure> {
    match command {
        Command::Run(args) => commands::run::run(&args),
        Command::Sweep(args) => commands::sweep::sweep(&args),
        Command::Jobs(args) => commands::jobs::jobs(&args),
        Command::Task(args) => commands::jobs::task(&args),
        Command::SweepPart(args) => commands::sweep::part(&args),
        Command::Dataset(args) => commands::dataset::dataset(&args),
        Command::DatasetSamples(args) => commands::dataset::samples(&args),
        Command::DatasetGather(args) => commands::dataset::gather(&args),
        Command::Check(args) => commands::check::check(&args),
        Command::Measure(args) => commands::measure::measure(&args),
        Command::Render(args) => commands::render::render(&args),
        Command::Export(args) => commands::export::export(&args),
        Command::Import(args) => commands::import::import(&args),
        Command::Validate(args) => commands::validate::validate(&args),
        Command::Figures(args) => commands::figures::figures(&args),
        Command::Studio(args) => commands::studio::studio(&args),
        Command::Bench(args) => commands::bench::bench(&args),
        Command::Scenes(args) => commands::shipped::scenes(&args),
        Command::Materials(args) => commands::shipped::materials(&args),
        Command::Liquids(args) => commands::shipped::liquids(&args),
        Command::Schema => commands::schema::schema(),
    }
}
