//! Orders from files that the user names.

use std::path::PathBuf;

use flakelab_lab::import::import;
use flakelab_model::{Order, Suite};

use crate::error::{CliError, chain};

/// The largest order file that is read.
const ORDER_FILE_LIMIT: u64 = 256 << 20;

pub(crate) fn read_orders(
    files: &[PathBuf],
    suite: &Suite,
    mut note: impl FnMut(&str),
) -> Result<Vec<Order>, CliError> {
    let mut orders = Vec::new();
    for path in files {
        let shown = path.display();
        let failed = |why: String| {
            CliError::usage(format!("`{shown}` {why}")).hint(
                "an order is a list of test ids, JUnit XML or a verbose log (pytest -v) of a run, or `flakelab.order` JSON",
            )
        };
        let size = std::fs::metadata(path)
            .map_err(|e| failed(format!("cannot be read: {e}")))?
            .len();
        if size > ORDER_FILE_LIMIT {
            return Err(failed("is too large".into()));
        }
        let bytes = std::fs::read(path).map_err(|e| failed(format!("cannot be read: {e}")))?;
        let text = String::from_utf8_lossy(&bytes);
        // Logs of CI systems are coloured.
        let text = anstream::adapter::strip_str(&text).to_string();
        let imported = import(&text, suite).map_err(|e| failed(chain(&e)))?;
        if let Some(example) = imported.unknown.first() {
            note(&format!(
                "`{shown}` names {} tests that this suite does not have, e.g. `{example}`",
                imported.unknown.len()
            ));
        }
        orders.extend(imported.orders);
    }
    Ok(orders)
}
