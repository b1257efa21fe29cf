//! Methods of Python's types that templates call and `minijinja-contrib` does not have.

use minijinja::value::{Value, ValueKind};
use minijinja::{Error, ErrorKind, State};

/// Calls a method of a value.
pub(super) fn call_method(
    state: &mut State<'_, '_>,
    value: &Value,
    method: &str,
    args: &[Value],
) -> Result<Value, Error> {
    let text = value.as_str().filter(|_| value.kind() == ValueKind::String);
    if let (Some(text), Some(first)) = (text, args.first().and_then(Value::as_str)) {
        let parts = |parts: Vec<&str>| Ok(Value::from_iter(parts));
        match method {
            "removeprefix" => return Ok(Value::from(text.strip_prefix(first).unwrap_or(text))),
            "removesuffix" => return Ok(Value::from(text.strip_suffix(first).unwrap_or(text))),
            "partition" if !first.is_empty() => {
                let (before, after) = text.split_once(first).unwrap_or((text, ""));
                return parts(vec![before, if before.len() < text.len() { first } else { "" }, after]);
            }
            "rpartition" if !first.is_empty() => {
                let (before, after) = text.rsplit_once(first).unwrap_or(("", text));
                return parts(vec![before, if after.len() < text.len() { first } else { "" }, after]);
            }
            "rsplit" if !first.is_empty() => {
                let most = args.get(1).and_then(|most| usize::try_from(most.clone()).ok());
                let mut found: Vec<&str> = match most {
                    Some(most) => text.rsplitn(most.saturating_add(1), first).collect(),
                    None => text.rsplit(first).collect(),
                };
                found.reverse();
                return parts(found);
            }
            _ => {}
        }
    }
    if matches!(method, "append" | "extend" | "insert" | "pop" | "update" | "setdefault") {
        let message =
            format!("the template changes a value in place with `{method}`, which cannot be rendered");
        return Err(Error::new(ErrorKind::UnknownMethod, message));
    }
    minijinja_contrib::pycompat::unknown_method_callback(state, value, method, args)
}
