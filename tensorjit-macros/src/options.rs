//! Environment variables that change what the macro does.

use tensorjit_core::pipeline::Stage;
use tensorjit_runtime::abi::Level;

/// Every variable that is read here or by the compiler; the expansion names them all, so that cargo expands
/// again when one changes.
pub(crate) const VARIABLES: &[&str] = &["TENSORJIT_LEVELS", "TENSORJIT_DUMP"];

/// What the environment asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Options {
    /// `TENSORJIT_LEVELS=v2,v3`: the levels to compile for; all of the architecture where it is not set.
    pub(crate) levels: Option<Vec<Level>>,
    /// `TENSORJIT_DUMP=simplified,loops`: the stages whose text is written beside the compiled function.
    pub(crate) dump: Vec<String>,
}

impl Options {
    /// Of this process, or what is wrong with it.
    pub(crate) fn current() -> Result<Options, String> {
        Options::read(|name| std::env::var(name).ok())
    }

    fn read(variable: impl Fn(&str) -> Option<String>) -> Result<Options, String> {
        let levels = match variable("TENSORJIT_LEVELS").filter(|value| !value.is_empty()) {
            Some(list) => Some(list.split(',').map(level).collect::<Result<Vec<Level>, String>>()?),
            None => None,
        };
        let dump = match variable("TENSORJIT_DUMP").filter(|value| !value.is_empty()) {
            Some(list) => list.split(',').map(stage).collect::<Result<Vec<String>, String>>()?,
            None => Vec::new(),
        };
        Ok(Options { levels, dump })
    }
}

fn level(name: &str) -> Result<Level, String> {
    match name.trim() {
        "v2" => Ok(Level::X86V2),
        "v3" => Ok(Level::X86V3),
        "v4" => Ok(Level::X86V4),
        "neon" => Ok(Level::Neon),
        other => Err(format!(
            "the environment variable TENSORJIT_LEVELS names `{other}`; levels are v2, v3, v4, neon"
        )),
    }
}

fn stage(name: &str) -> Result<String, String> {
    let stages = Stage::ALL.map(Stage::name);
    if stages.contains(&name.trim()) {
        return Ok(name.trim().to_owned());
    }
    let list = stages.join(", ");
    Err(format!("the environment variable TENSORJIT_DUMP names `{name}`; stages are {list}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_listed() {
        let read = |value: Option<&str>| {
            Options::read(|name| value.filter(|_| name == "TENSORJIT_LEVELS").map(str::to_owned))
        };
        assert_eq!(read(None), Ok(Options::default()));
        assert_eq!(read(Some("")), Ok(Options::default()));
        assert_eq!(read(Some("v4, v2")).unwrap().levels, Some(vec![Level::X86V4, Level::X86V2]));
        assert!(read(Some("v5")).unwrap_err().contains("`v5`"));
    }

    #[test]
    fn stages_are_listed() {
        let read = |value: &str| Options::read(|name| (name == "TENSORJIT_DUMP").then(|| value.to_owned()));
        assert_eq!(read("loops, checked").unwrap().dump, ["loops", "checked"]);
        assert!(read("graph").unwrap_err().contains("`graph`"));
    }
}
