//! CSV: the measures, one row per frame and drop; the table of `sessile measure --csv` (see `docs/run-folder.md`).

use sessile_frames::{csv, measures_file};

use crate::error::ExportError;
use crate::job::Job;

pub fn write(job: &Job<'_>) -> Result<(), ExportError> {
    let mut sink = job.destination.file()?;
    let path = job.destination.path().to_owned();
    csv::write_header(sink.writer()).map_err(ExportError::writing(&path))?;
    let (first, last) = job.source.range();
    let mut done = 0;
    let mut result = Ok(());
    measures_file::for_each(&job.source.folder.measures_path(), |frame| {
        if (first..=last).contains(&frame.frame) {
            result = csv::write_frame(sink.writer(), &frame).map_err(ExportError::writing(&path)).and(job.check_stop());
            done += 1;
            job.progress.advance(done);
        }
        result.is_ok() && frame.frame < last
    })?;
    result?;
    sink.finish()
}
