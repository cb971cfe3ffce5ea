//! Tests as users name them.

/// Whether a name means a test: its id, its file, class or function, or the end of its id.
pub(crate) fn means(name: &str, id: &str) -> bool {
    id == name
        || id
            .strip_prefix(name)
            .is_some_and(|rest| rest.starts_with("::") || rest.starts_with('['))
        || id
            .strip_suffix(name)
            .is_some_and(|rest| rest.ends_with("::"))
}
