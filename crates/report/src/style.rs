//! Styles are ANSI sequences; the printer removes them where they do not belong.

pub(crate) const BOLD: &str = "\x1b[1m";
pub(crate) const DIM: &str = "\x1b[2m";
pub(crate) const RED: &str = "\x1b[31m";
pub(crate) const YELLOW: &str = "\x1b[33m";
pub(crate) const GREEN: &str = "\x1b[32m";
pub(crate) const OFF: &str = "\x1b[0m";
