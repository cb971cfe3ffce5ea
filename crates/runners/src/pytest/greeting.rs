//! What an interpreter says when it has collected the suite.

use std::path::Path;

use flakelab_model::Suite;

use super::arguments::Arguments;
use super::job::bomb_message;
use super::open::{Facts, OpenError, SandboxState};
use super::worker::Worker;
use crate::wire::{CollectionError, Event, Fatal, Hello};

pub(super) struct Greeting {
    pub(super) lists: Lists,
    pub(super) hello: Hello,
}

/// What takes more than a packet.
#[derive(Default)]
pub(super) struct Lists {
    pub(super) tests: Vec<String>,
    pub(super) errors: Vec<CollectionError>,
    options: Vec<String>,
    plain_options: Vec<String>,
    positionals: Vec<String>,
    /// Collecting was ended because of its many processes: it would do the same again.
    pub(super) bombed: bool,
}

impl Lists {
    /// Takes in what has been said so far; the last word of a greeting once it is complete.
    pub(super) fn hear(
        &mut self,
        worker: &mut Worker,
        buffer: &mut [u8],
    ) -> Result<Option<Hello>, OpenError> {
        // Asked before listening, so that last words are heard.
        let ended = worker.has_ended();
        worker.drain(buffer);
        while let Some(event) = worker.next(buffer) {
            match event {
                Event::Tests { list } => self.tests.extend(list),
                Event::CollectionErrors { list } => self.errors.extend(list),
                Event::Options { list } => self.options.extend(list),
                Event::PlainOptions { list } => self.plain_options.extend(list),
                Event::Positionals { list } => self.positionals.extend(list),
                Event::Hello(hello) => return Ok(Some(*hello)),
                Event::Fatal(fatal) => {
                    worker.drain(buffer);
                    let errors = std::mem::take(&mut self.errors);
                    return Err(refusal(fatal, errors, worker.output()));
                }
                Event::Bomb { n, .. } => {
                    self.bombed = true;
                    return Err(OpenError::DoesNotCollect {
                        errors: std::mem::take(&mut self.errors),
                        said: bomb_message("collection", n),
                    });
                }
                _ => {}
            }
        }
        if ended {
            return Err(OpenError::DoesNotCollect {
                errors: std::mem::take(&mut self.errors),
                said: worker.output(),
            });
        }
        Ok(None)
    }
}

impl Greeting {
    pub(super) fn suite(&self) -> Suite {
        Suite::new(self.lists.tests.iter().cloned())
    }

    /// Why a suite without tests is none.
    pub(super) fn no_tests(self) -> OpenError {
        if self.lists.errors.is_empty() {
            OpenError::NoTests
        } else {
            OpenError::DoesNotCollect {
                errors: self.lists.errors,
                said: String::new(),
            }
        }
    }

    pub(super) fn facts(self, as_module: bool, sandbox: SandboxState) -> Facts {
        let Greeting { lists, hello } = self;
        Facts {
            python: hello.python,
            pytest: hello.pytest,
            plugins: hello.plugins,
            silenced: hello.silenced,
            collection_errors: lists.errors,
            unstable: Vec::new(),
            sandbox,
            cold_because: None,
            arguments: Arguments::new(
                lists.options,
                lists.plain_options,
                lists.positionals,
                Path::new(&hello.rootdir),
                Path::new(&hello.invocation_dir),
                as_module,
            )
            .with_places(hello.places),
        }
    }
}

/// How many errors a collection as `pytest` had, if one as `python -m pytest` may have fewer.
pub(super) fn errors(first: Result<&Greeting, &OpenError>) -> Option<usize> {
    match first {
        Ok(greeting) => Some(greeting.lists.errors.len()).filter(|errors| *errors > 0),
        Err(OpenError::Usage { .. } | OpenError::DoesNotCollect { .. }) => Some(usize::MAX),
        Err(_) => None,
    }
}

fn refusal(fatal: Fatal, errors: Vec<CollectionError>, said: String) -> OpenError {
    // pytest's exit codes: 4 is a usage error, 5 is no tests collected.
    match (fatal.kind.as_str(), fatal.exit) {
        ("pytest", 4) => OpenError::Usage { said },
        ("pytest", 5) => OpenError::NoTests,
        _ => OpenError::DoesNotCollect {
            errors,
            said: if said.trim().is_empty() {
                fatal.m
            } else {
                said
            },
        },
    }
}
