//! A class of Python as it was loaded: what it declares, and its instances.

use super::call::{Arg, Method};
use super::failure::traceback;
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde::Deserialize;
use sojourn_units::{Bytes, Kind, KindOf, Limit, Packets, ParamInfo, Rate, Ratio, Span, Values};
use std::path::PathBuf;
use std::sync::Arc;

/// What a class is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Role {
    Aqm,
    Scheduler,
    Control,
}

/// A class. Its texts live as long as the process: there are as many as classes that were named.
pub(super) struct Class {
    /// `my_module:Mine`.
    pub(super) name: &'static str,
    pub(super) role: Role,
    pub(super) title: &'static str,
    /// What it does, in Markdown.
    pub(super) about: &'static str,
    pub(super) params: &'static [ParamInfo],
    /// Attributes that time series record.
    pub(super) state: &'static [&'static str],
    /// Which code it is: the checksum of its module's file.
    pub(super) release: &'static str,
    /// Another process can import it.
    pub(super) importable: bool,
    /// It is a congestion control that may set a pace.
    pub(super) paces: bool,
    object: Py<PyAny>,
    methods: Vec<(&'static str, Vec<Arg>)>,
}

impl std::fmt::Debug for Class {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// What `sojourn.plugin` says of a class.
#[derive(Deserialize)]
struct Declared {
    kind: Role,
    title: String,
    doc: String,
    parameters: Vec<DeclaredParam>,
    methods: Vec<(String, Vec<String>)>,
    state: Vec<String>,
    paces: bool,
    sha256: String,
    file: String,
    importable: bool,
}

#[derive(Deserialize)]
struct DeclaredParam {
    name: String,
    kind: String,
    choices: Vec<String>,
    default: String,
    low: String,
    high: String,
    doc: String,
    source: String,
}

/// The parameter of every queue of a class that does not declare it.
const LIMIT: ParamInfo = ParamInfo {
    name: "limit",
    doc: "Maximum queue length. Arrivals beyond it are dropped before the class is asked.",
    default: "1000p",
    range_low: "1p",
    range_high: "",
    source: "DropTail's",
    needs: &[],
    acts: "",
    set_by_dialect: false,
    kind: KindOf::Known(&Kind::Limit),
};

fn leak(text: String) -> &'static str {
    Box::leak(text.into_boxed_str())
}

impl Class {
    /// Imports the class called `name`.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(super) fn load(py: Python<'_>, name: &str, folders: Vec<PathBuf>) -> Result<Class, String> {
        let loaded = py
            .import("sojourn.plugin")
            .and_then(|plugin| plugin.call_method1("_load", (name, folders)));
        let loaded = loaded.and_then(|loaded| loaded.extract::<(Py<PyAny>, String)>());
        let (object, json) = loaded.map_err(|error| {
            let plugin_error = py
                .import("sojourn.errors")
                .and_then(|errors| errors.getattr("PluginError"));
            match plugin_error {
                Ok(class) if error.value(py).is_instance(&class).unwrap_or(false) => {
                    error.value(py).to_string()
                }
                _ => format!("{name}: {}", traceback(py, &error)),
            }
        })?;
        let declared: Declared =
            serde_json::from_str(&json).map_err(|error| format!("{name}: {error}"))?;
        Class::of(leak(name.to_owned()), object, declared)
    }

    fn of(name: &'static str, object: Py<PyAny>, declared: Declared) -> Result<Class, String> {
        let mut params: Vec<ParamInfo> = Vec::new();
        for param in declared.parameters {
            params.push(info(param).map_err(|problem| format!("{name}: {problem}"))?);
        }
        let is_queue = declared.kind != Role::Control;
        if is_queue && params.iter().all(|info| info.name != LIMIT.name) {
            params.push(LIMIT);
        }
        let params = params.leak();
        Values::check(params, &[]).map_err(|problem| format!("{name}: {problem}"))?;
        let methods = declared.methods.into_iter().map(|(method, args)| {
            let args = args.iter().filter_map(|arg| Arg::of(arg)).collect();
            (leak(method), args)
        });
        let state = declared.state.into_iter().map(leak).collect::<Vec<_>>();
        let file = match declared.file.as_str() {
            "" => String::new(),
            file => format!(" of `{file}`"),
        };
        let about = match declared.doc.as_str() {
            "" => format!("A class of Python{file}. It has no documentation."),
            doc => format!("{doc}\n\nA class of Python{file}."),
        };
        let release = match declared.sha256.get(..16) {
            Some(checksum) => leak(format!("sha256-{checksum}")),
            None => "unknown",
        };
        Ok(Class {
            name,
            role: declared.kind,
            title: leak(declared.title),
            about: leak(about),
            params,
            state: state.leak(),
            release,
            importable: declared.importable,
            paces: declared.paces,
            object,
            methods: methods.collect(),
        })
    }

    /// The class itself.
    pub(super) fn object(&self) -> &Py<PyAny> {
        &self.object
    }

    /// A method of an instance, if the class defines it.
    pub(super) fn method(
        &self,
        instance: &Bound<'_, PyAny>,
        name: &'static str,
    ) -> PyResult<Option<Method>> {
        let Some((name, args)) = self.methods.iter().find(|(own, _)| *own == name) else {
            return Ok(None);
        };
        let bound = instance.getattr(*name)?.unbind();
        Ok(Some(Method::new(bound, args, self.name, name)))
    }

    /// An instance with these parameters.
    ///
    /// # Errors
    /// What its `__init__` raised, with the traceback.
    pub(super) fn instance<'py>(
        &self,
        py: Python<'py>,
        values: &Values,
    ) -> Result<Bound<'py, PyAny>, String> {
        let make = || {
            let given = PyDict::new(py);
            for info in self.params {
                let text = values.get(info.name).unwrap_or_default();
                given.set_item(info.name, value(py, &info.kind(), text)?)?;
            }
            py.import("sojourn.plugin")?
                .call_method1("_instance", (&self.object, given))
        };
        let made = make();
        let made = made
            .map_err(|error| format!("__init__ raised an exception\n{}", traceback(py, &error)))?;
        // A property is found at the class, so that it is not read.
        let class = made.get_type();
        let has =
            |name: &str| class.hasattr(name).unwrap_or(false) || made.hasattr(name).unwrap_or(true);
        let missing = |name: &&&str| !has(name);
        match self.state.iter().find(missing) {
            None => Ok(made),
            Some(name) => Err(format!(
                "STATE names {name}, but an instance has no attribute {name} when it is made"
            )),
        }
    }
}

/// The names of classes, and which code each is.
pub(super) fn codes(classes: &[Arc<Class>]) -> Vec<(String, String)> {
    let code = |class: &Arc<Class>| (class.name.to_owned(), class.release.to_owned());
    classes.iter().map(code).collect()
}

fn info(param: DeclaredParam) -> Result<ParamInfo, String> {
    let kind = match param.kind.as_str() {
        "time" => Kind::Duration,
        "rate" => Kind::Rate,
        "size" => Kind::Size,
        "packets" => Kind::Packets,
        "limit" => Kind::Limit,
        "ratio" => Kind::Fraction,
        "integer" => Kind::Integer,
        "number" => Kind::Number,
        "flag" => Kind::Flag,
        "text" => Kind::Text,
        "choice" => {
            let words = param.choices.into_iter().map(|word| (leak(word), ""));
            Kind::Choice(words.collect::<Vec<_>>().leak())
        }
        other => return Err(format!("parameter {}: unknown kind {other}", param.name)),
    };
    let normal = |text: String| match text.as_str() {
        "" => String::new(),
        _ => normal(&kind, &text).unwrap_or(text),
    };
    let (default, low, high) = (normal(param.default), normal(param.low), normal(param.high));
    Ok(ParamInfo {
        name: leak(param.name),
        doc: leak(param.doc),
        default: leak(default),
        range_low: leak(low),
        range_high: leak(high),
        source: leak(param.source),
        kind: KindOf::Known(Box::leak(Box::new(kind))),
        ..LIMIT
    })
}

/// A value as it is printed, if the text is one: `5ms` for `0.005s`.
fn normal(kind: &Kind, text: &str) -> Option<String> {
    Some(match kind {
        Kind::Duration => text.parse::<Span>().ok()?.to_string(),
        Kind::Rate => text.parse::<Rate>().ok()?.to_string(),
        Kind::Size => text.parse::<Bytes>().ok()?.to_string(),
        Kind::Packets => text.parse::<Packets>().ok()?.to_string(),
        Kind::Fraction => text.parse::<Ratio>().ok()?.to_string(),
        _ => return None,
    })
}

/// A value as a class sees it: in seconds, bits per second, bytes, packets.
fn value<'py>(py: Python<'py>, kind: &Kind, text: &str) -> PyResult<Bound<'py, PyAny>> {
    fn read<T: std::str::FromStr>(text: &str) -> PyResult<T> {
        text.parse().map_err(|_| {
            // It was checked when it was read.
            pyo3::exceptions::PyValueError::new_err(format!("{text:?} cannot be read"))
        })
    }
    match kind {
        Kind::Duration => read::<Span>(text)?.as_secs_f64().into_bound_py_any(py),
        Kind::Rate => read::<Rate>(text)?.as_bps().into_bound_py_any(py),
        Kind::Size => read::<Bytes>(text)?.get().into_bound_py_any(py),
        Kind::Packets => read::<Packets>(text)?.get().into_bound_py_any(py),
        Kind::Limit => match text.parse::<Limit>() {
            Ok(Limit::Packets(packets)) => packets.get().into_bound_py_any(py),
            Ok(Limit::Bytes(bytes)) => bytes.get().into_bound_py_any(py),
            Err(_) => text.into_bound_py_any(py),
        },
        Kind::Fraction => read::<Ratio>(text)?.get().into_bound_py_any(py),
        Kind::Integer => read::<u64>(text)?.into_bound_py_any(py),
        Kind::Number => read::<f64>(text)?.into_bound_py_any(py),
        Kind::Flag => (text == "true").into_bound_py_any(py),
        _ => text.into_bound_py_any(py),
    }
}
