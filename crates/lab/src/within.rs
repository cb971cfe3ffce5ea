//! A batch that a deadline may cut short.

use std::ops::ControlFlow;
use std::time::Instant;

use flakelab_model::{RunRecord, RunRequest};

use crate::{Lab, LabError};

/// Records in the order of the requests; `None` for those that the deadline did not reach.
pub fn run_within(
    lab: &mut dyn Lab,
    requests: &mut [RunRequest],
    until: Option<Instant>,
    mut done: impl FnMut(),
) -> Result<Vec<Option<RunRecord>>, LabError> {
    let late = || until.is_some_and(|at| Instant::now() >= at);
    let mut records: Vec<Option<RunRecord>> = vec![None; requests.len()];
    if requests.is_empty() || late() {
        return Ok(records);
    }
    for request in &mut *requests {
        request.until = until;
    }
    lab.run(requests, &mut |record| {
        done();
        let number = record.request;
        records[number] = Some(record);
        if late() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    })?;
    Ok(records)
}
