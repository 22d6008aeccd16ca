//! `sessile validate`: compares the models with theory.

use std::io::{Write, stdout};

use sessile_validation::validate::{Origin, Selection, cases, json, run, table, write_report};

use crate::args::ValidateArgs;
use crate::commands::on_threads;
use crate::failure::Failure;
use crate::stderr;

/// Runs the chosen cases, prints what they found, and fails when one of them does.
pub fn validate(args: &ValidateArgs) -> Result<(), Failure> {
    let selection = Selection { models: args.models.clone(), case: args.case.clone(), quick: args.quick };
    let chosen = selection.choose(&cases()).map_err(Failure::wrong)?;
    let outcomes = on_threads(None, || run(&chosen, args.quick, &|text| stderr::line(text)))?;

    let mut out = stdout().lock();
    if args.json {
        writeln!(out, "{:#}", json(&outcomes, args.quick))?;
    } else {
        write!(out, "{}", table(&outcomes))?;
    }
    if let Some(folder) = &args.report {
        let origin = Origin::here(command(args));
        let page = write_report(folder, &outcomes, args.quick, &origin)
            .map_err(|error| Failure::failed(format!("cannot write the report into {}: {error}", folder.display())))?;
        stderr::line(&format!("report: {}", page.display()));
    }
    match outcomes.iter().filter(|outcome| outcome.fails()).count() {
        0 => Ok(()),
        1 => Err(Failure::failed("1 case fails")),
        failed => Err(Failure::failed(format!("{failed} cases fail"))),
    }
}

/// The command line of these arguments.
fn command(args: &ValidateArgs) -> String {
    let mut words = vec!["sessile validate".to_owned()];
    words.extend(args.models.iter().map(|model| format!("--model {model}")));
    words.extend(args.case.iter().map(|case| format!("--case {case}")));
    words.extend(args.quick.then(|| "--quick".to_owned()));
    words.extend(args.report.iter().map(|folder| format!("--report {}", folder.display())));
    words.join(" ")
}
