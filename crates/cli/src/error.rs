//! Errors as users see them: what failed, why, what to do; and the exit codes scripts rely on.

pub(crate) const CLEAN: u8 = 0;
pub(crate) const FINDINGS: u8 = 1;
pub(crate) const USAGE: u8 = 2;
pub(crate) const BROKEN_SUITE: u8 = 3;
pub(crate) const INCONCLUSIVE: u8 = 4;
pub(crate) const INTERNAL: u8 = 70;
pub(crate) const INTERRUPTED: u8 = 130;

#[derive(Debug)]
pub(crate) struct CliError {
    pub(crate) message: String,
    /// Further lines, e.g. what pytest said.
    pub(crate) details: Vec<String>,
    pub(crate) hint: Option<String>,
    pub(crate) code: u8,
}

impl CliError {
    pub(crate) fn new(code: u8, message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            details: Vec::new(),
            hint: None,
            code,
        }
    }

    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(USAGE, message)
    }

    /// The store cannot be read or written.
    pub(crate) fn store(error: impl std::error::Error) -> Self {
        Self::usage(chain(&error)).hint(
            "is the disk full or read-only, the file another user's, or in use by another flakelab? --store chooses another place",
        )
    }

    /// What to do about it: also where nobody foresaw it.
    pub(crate) fn advice(&self) -> Option<&str> {
        let unexpected = "if the disk is not full, this is a bug of flakelab: please report it, with what \
                          `flakelab doctor --format json` prints";
        self.hint
            .as_deref()
            .or_else(|| (self.code == INTERNAL).then_some(unexpected))
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    pub(crate) fn detail(mut self, detail: impl Into<String>) -> Self {
        self.details.push(detail.into());
        self
    }
}

/// An error with its causes on one line; a cause that only repeats the one before is left out.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut parts = vec![error.to_string()];
    let mut source = error.source();
    while let Some(cause) = source {
        let text = cause.to_string();
        if !parts.iter().any(|part| text.contains(part)) {
            parts.push(text);
        }
        source = cause.source();
    }
    parts.join(": ")
}
