//! `flakelab init`: a configuration file with every setting there is, commented out.

use std::fs::File;
use std::io::{ErrorKind, Write};
use std::path::Path;

use crate::args::InitArgs;
use crate::config;
use crate::error::{CLEAN, CliError};
use crate::printer::Printer;

/// Settings start with `#` and no space, what explains them with `# `.
const TEMPLATE: &str = include_str!("flakelab.toml");

pub(crate) fn run(args: &InitArgs) -> crate::Outcome {
    let printer = Printer::new(false, false);
    if args.stdout {
        printer.data(TEMPLATE);
        return Ok(CLEAN);
    }
    if !args.path.is_dir() {
        return Err(
            CliError::usage(format!("`{}` is no directory", args.path.display()))
                .hint("give the directory in which you would run pytest"),
        );
    }
    let file = args.path.join("flakelab.toml");
    if !file.exists() && config::in_pyproject(&args.path) {
        return Err(CliError::usage(
            "pyproject.toml has [tool.flakelab], which flakelab.toml would hide",
        )
        .hint("look up further settings with `flakelab init --stdout`"));
    }
    write_new(&file)?;
    printer.data(&format!(
        "{} has every setting at its default; nothing in it is necessary\n",
        file.display()
    ));
    printer.next("flakelab detect");
    Ok(CLEAN)
}

fn write_new(path: &Path) -> Result<(), CliError> {
    let mut file = File::create_new(path).map_err(|e| match e.kind() {
        ErrorKind::AlreadyExists => {
            CliError::usage(format!("`{}` is there already", path.display()))
                .hint("compare it with `flakelab init --stdout`, or move it away")
        }
        _ => unwritable(path, &e),
    })?;
    file.write_all(TEMPLATE.as_bytes())
        .map_err(|e| unwritable(path, &e))
}

fn unwritable(path: &Path, error: &std::io::Error) -> CliError {
    CliError::usage(format!("failed to write `{}`: {error}", path.display()))
        .hint("`flakelab init --stdout` prints it instead")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, Detect, Explain, Filter, Inject, Measure, Mutate};

    fn parse(text: &str) -> Config {
        let dir = tempfile::tempdir().expect("a directory");
        std::fs::write(dir.path().join("flakelab.toml"), text).expect("written");
        config::load(dir.path()).expect("a configuration")
    }

    /// Every setting switched on.
    fn uncommented() -> String {
        let setting = |line: &str| match line.strip_prefix('#') {
            Some(rest) if !rest.is_empty() && !rest.starts_with(' ') => rest.to_owned(),
            _ => line.to_owned(),
        };
        let lines: Vec<String> = TEMPLATE.lines().map(setting).collect();
        lines.join("\n")
    }

    /// A setting that is added to the configuration and not here does not compile, or fails.
    #[test]
    fn every_setting_is_in_the_template() {
        let Config {
            python,
            store,
            jobs,
            seed,
            sandbox,
            isolation,
            test_timeout,
            run_timeout,
            memory,
            pytest_args,
            detect,
            explain,
            inject,
            measure,
            mutate,
            filter,
        } = parse(&uncommented());
        assert!(python.is_some() && store.is_some() && jobs.is_some() && seed.is_some());
        assert!(sandbox.is_some() && isolation.is_some());
        assert!(test_timeout.is_some() && run_timeout.is_some());
        assert!(memory.is_some() && pytest_args.is_some());
        let Detect {
            orders,
            mix,
            budget,
            rerun_orders,
            reruns,
            isolated_runs,
            confirmations,
        } = detect;
        assert!(orders.is_some() && mix.is_some() && budget.is_some());
        assert!(rerun_orders.is_some() && reruns.is_some());
        assert!(isolated_runs.is_some() && confirmations.is_some());
        let Explain {
            orders,
            budget,
            confirmations,
        } = explain;
        assert!(orders.is_some() && budget.is_some() && confirmations.is_some());
        let Inject {
            reruns,
            orders,
            scope,
            assertions,
        } = inject;
        assert!(reruns.is_some() && orders.is_some() && scope.is_some());
        assert!(assertions.is_some());
        let Measure {
            runs,
            layers,
            factors,
            runtimes,
            sources,
            unmask,
            fields,
            configurations,
        } = measure;
        assert!(runs.is_some() && layers.is_some() && factors.is_some());
        assert!(runtimes.is_some() && sources.is_some() && unmask.is_some());
        assert!(!fields.is_empty() && !configurations.is_empty());
        let Mutate {
            only,
            exclude,
            without,
            sample,
            coverage,
            coverage_reruns,
            reruns,
            rerun,
            hits,
            fail_under,
        } = mutate;
        assert!(only.is_some() && exclude.is_some() && without.is_some());
        assert!(sample.is_some() && coverage.is_some() && coverage_reruns.is_some());
        assert!(reruns.is_some() && rerun.is_some() && hits.is_some());
        assert!(fail_under.is_some());
        let Filter { threshold } = filter;
        assert!(threshold.is_some());
    }

    #[test]
    fn as_it_is_written_it_sets_nothing() {
        let nothing = format!("{:?}", Config::default());
        assert_eq!(format!("{:?}", parse(TEMPLATE)), nothing);
    }

    #[test]
    fn every_setting_is_explained_in_the_line_before() {
        let lines: Vec<&str> = TEMPLATE.lines().collect();
        let is_setting = |line: &str| line.starts_with('#') && !line.starts_with("# ");
        for pair in lines.windows(2) {
            let explained = pair[0].starts_with("# ")
                || pair[0].starts_with("[measure.fields]")
                || pair[0].starts_with("#[measure.configurations")
                || pair[0].starts_with("#timezone");
            assert!(!is_setting(pair[1]) || explained, "{}", pair[1]);
        }
    }
}
