//! `fix`: patches for order-dependent tests, and no claim that was not verified.
//!
//! Candidates come from what `explain` found: the state that leaks is put back by the polluter's module,
//! a fixture or class set-up that tests share is made one for every test, or the code of a helper (a cleaner
//! or state-setter, iPFlakies section 3.2) runs first. Each candidate is verified in the real file of a view of
//! the project; the first that holds wins.
//!
//! | file | question |
//! |---|---|
//! | `propose` | which edits could help? |
//! | `shrink` | which statements of a helper are needed? |
//! | `unpatched` | does the test still do what was found of it? |
//! | `known` | how does the suite behave without a patch? |
//! | `standing` | how does a test stand, from failed to passed? |
//! | `verify` | does the test pass wherever it failed, and does everything else stay as it was? |
//! | `fix` | which test gets which patch? |
//! | `together` | do they hold when all are written? |

mod assertions;
mod case;
mod fix;
mod known;
mod patch;
mod propose;
mod shrink;
mod standing;
mod together;
mod unpatched;
mod verify;

pub use case::{Case, Leak};
pub use fix::{Fix, Fixes, Settings, Status, Surroundings, VerifiedPatch, Watch, fix};
pub use patch::{Change, Patch, Site, Strategy};
pub use together::Together;
pub use verify::Verified;
