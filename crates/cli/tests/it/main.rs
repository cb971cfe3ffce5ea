//! The real binary, end to end, on real suites.
//!
//! One binary holds all of them: they are linked once, and no file waits for the slowest test of another.

mod support;

mod action;
mod architecture;
mod campaigns;
mod doctor;
mod drill_kills;
mod drill_limits;
mod drill_places;
mod drill_scale;
mod errors;
mod examples;
mod explain;
mod explain_chance;
mod filter;
mod filter_versions;
mod fix;
mod fix_careful;
mod fix_cleaners;
mod fix_edits;
mod fix_idioms;
mod fix_reach;
mod fix_setters;
mod help;
mod history;
mod history_hostile;
mod history_killed;
mod init;
mod inject_dataset;
mod inject_robust;
mod inject_shapes;
mod install;
mod measure;
mod measure_factors;
mod measure_honest;
mod mutate;
mod mutate_again;
mod mutate_robust;
mod mutate_views;
mod output;
mod report;
mod sandbox;
mod shell;
mod traps_ids;
mod traps_import;
mod traps_plugins;
mod traps_process;
mod traps_rivals;
mod traps_suites;
mod welcome;
