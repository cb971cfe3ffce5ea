//! Files that nothing is known of, in every output: what is said without them is said of a part of the suite.

use std::fmt::Write as _;

use quick_junit::{NonSuccessKind, TestCase, TestCaseStatus, TestSuite};

use crate::detect::CollectionError;
use crate::junit::first;
use crate::markdown::code;
use crate::style::{BOLD, OFF, RED};
use crate::wording::{first_line, visible};

/// What is wrong with a file.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Wrong {
    /// A file of tests.
    DoesNotCollect,
    /// A file of results.
    Unread,
}

impl Wrong {
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::DoesNotCollect => "does not collect",
            Self::Unread => "could not be read",
        }
    }

    fn junit_class(self) -> &'static str {
        match self {
            Self::DoesNotCollect => "flakelab-collection",
            Self::Unread => "flakelab-results",
        }
    }
}

pub(crate) fn terminal(out: &mut String, wrong: Wrong, files: &[CollectionError]) {
    for file in files {
        let _ = writeln!(
            out,
            "{BOLD}{RED}{}{OFF} {BOLD}{}{OFF}\n  {}",
            wrong.words(),
            visible(&file.id),
            first_line(&file.message, 160)
        );
    }
}

pub(crate) fn markdown(out: &mut String, wrong: Wrong, files: &[CollectionError]) {
    for file in files {
        let _ = writeln!(
            out,
            "\n> {} {}: {}",
            code(&file.id),
            wrong.words(),
            code(&first_line(&file.message, 200))
        );
    }
}

pub(crate) fn junit(suite: &mut TestSuite, wrong: Wrong, files: &[CollectionError]) {
    for file in files {
        let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
        status.set_message(first(&file.message));
        let mut case = TestCase::new(file.id.as_str(), status);
        case.set_classname(wrong.junit_class());
        suite.add_test_case(case);
    }
}
