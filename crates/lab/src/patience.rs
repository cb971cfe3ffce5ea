//! How long a test may take before it counts as hung.

use std::time::Duration;

/// So many times longer than the slowest test took so far: room for a busy machine, and short enough for a
/// test that hangs in every second run.
const TIMES: u32 = 20;

/// At least `least`, whatever was seen, and at most what the user allows.
pub fn limit(slowest: Duration, least: Duration, most: Duration) -> Duration {
    slowest.saturating_mul(TIMES).max(least).min(most)
}
