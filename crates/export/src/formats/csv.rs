//! CSV: the measures, one row per frame and drop, as printed by `sessile measure --csv`.

use sessile_frames::{csv, measures_file};
use sessile_output::OutputError;

use crate::error::ExportError;
use crate::job::Job;

pub fn write(job: &Job<'_>) -> Result<(), ExportError> {
    let mut sink = job.destination.file()?;
    let path = job.destination.path().to_owned();
    csv::write_header(sink.writer()).map_err(OutputError::writing(&path))?;
    let (first, last) = job.source.range();
    let mut done = 0;
    let mut result = Ok(());
    measures_file::for_each(&job.source.folder.measures_path(), |frame| {
        if (first..=last).contains(&frame.frame) {
            let written = csv::write_frame(sink.writer(), &frame).map_err(OutputError::writing(&path));
            result = written.map_err(ExportError::from).and(job.check_stop());
            done += 1;
            job.progress.advance(done, 0.0);
        }
        result.is_ok() && frame.frame < last
    })?;
    result?;
    Ok(sink.finish()?)
}
