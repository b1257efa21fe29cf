//! JSON text to Python objects, as `json.loads` makes them.
//!
//! The reader of `toolmend-json` reads the text, and this module only makes objects of what it reports. It never accepts text
//! that is not JSON: that ends in an error and not in a wrong value. Open brackets are a list and not a recursion.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyNone, PySlice, PyString};
use toolmend_json::strict::{self, Scalar, Visitor};
use toolmend_json::{Kind, TextBuffer};

/// The number of keys that are remembered. Records repeat a handful of them, and a string that exists needs no new hash.
const KEYS: usize = 64;

/// From this length on, a string that is not ASCII is cut out of the Python string that it is in. Shorter ones are made faster.
const LONG: usize = 256;

/// An array or object that is still open.
enum Open<'py> {
    List(Bound<'py, PyList>),
    /// With the key of the next value.
    Object(Bound<'py, PyDict>, Option<Bound<'py, PyString>>),
}

/// Builds the value of strict JSON text.
pub(crate) fn build<'py>(py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyAny>> {
    Builder::new(py, text, None).build()
}

/// Builds the value of strict JSON text that is the text of this Python string.
pub(crate) fn build_of<'py>(source: &Bound<'py, PyString>, text: &str) -> PyResult<Bound<'py, PyAny>> {
    Builder::new(source.py(), text, Some(source)).build()
}

struct Builder<'t, 'py> {
    py: Python<'py>,
    text: &'t str,
    open: Vec<Open<'py>>,
    root: Option<Bound<'py, PyAny>>,
    /// The first error of Python. Nothing is built after it.
    error: Option<PyErr>,
    keys: [Option<(&'t str, Bound<'py, PyString>)>; KEYS],
    buffer: TextBuffer,
    /// The string that the text is of. Python does not keep strings as UTF-8, so cutting a part out is cheaper than decoding.
    source: Option<&'t Bound<'py, PyString>>,
    /// The number of characters before a byte, and that byte.
    counted: (usize, usize),
}

impl<'t, 'py> Builder<'t, 'py> {
    fn new(py: Python<'py>, text: &'t str, source: Option<&'t Bound<'py, PyString>>) -> Self {
        Builder {
            py,
            text,
            open: Vec::new(),
            root: None,
            error: None,
            keys: [const { None }; KEYS],
            buffer: TextBuffer::default(),
            source,
            counted: (0, 0),
        }
    }

    fn build(&mut self) -> PyResult<Bound<'py, PyAny>> {
        let read = strict::walk(self.text, 0, strict::MAX_DEPTH, self);
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        read.map_err(|fault| PyValueError::new_err(fault.to_string()))?;
        self.root.take().ok_or_else(|| PyValueError::new_err("expected a JSON value, found none"))
    }

    /// Puts a value where it belongs: into the innermost open array or object, if there is one.
    fn put(&mut self, value: PyResult<Bound<'py, PyAny>>) {
        if self.error.is_some() {
            return;
        }
        let put = value.and_then(|value| match self.open.last_mut() {
            Some(Open::List(list)) => list.append(value),
            Some(Open::Object(object, key)) => match key.take() {
                Some(key) => object.set_item(key, value),
                None => Err(PyValueError::new_err("expected a key before the value, found none")),
            },
            None => {
                self.root = Some(value);
                Ok(())
            }
        });
        if let Err(error) = put {
            self.error = Some(error);
        }
    }

    /// Makes the value of a string, number or literal.
    fn make_scalar(&mut self, scalar: Scalar) -> PyResult<Bound<'py, PyAny>> {
        let Scalar { kind, start, end, escaped } = scalar;
        match kind {
            Kind::Null => Ok(PyNone::get(self.py).to_owned().into_any()),
            Kind::Bool => {
                let value = self.text.as_bytes()[start] == b't';
                Ok(PyBool::new(self.py, value).to_owned().into_any())
            }
            Kind::Number => self.make_number(&self.text[start..end]),
            _ if escaped => self.make_unescaped(scalar).map(Bound::into_any),
            _ => {
                let text = &self.text[start + 1..end - 1];
                match self.source {
                    Some(source) if text.len() >= LONG && !text.is_ascii() => {
                        self.cut(source, start + 1, text)
                    }
                    _ => Ok(PyString::new(self.py, text).into_any()),
                }
            }
        }
    }

    /// Makes whole numbers of any size exactly. The others become what Python reads in their text.
    fn make_number(&self, text: &str) -> PyResult<Bound<'py, PyAny>> {
        if text.bytes().any(|byte| matches!(byte, b'.' | b'e' | b'E')) {
            let broken = |_| PyValueError::new_err(format!("expected a JSON number, found {text}"));
            return Ok(PyFloat::new(self.py, text.parse().map_err(broken)?).into_any());
        }
        match text.parse::<i64>() {
            Ok(number) => Ok(number.into_pyobject(self.py)?.into_any()),
            Err(_) => self.py.get_type::<PyInt>().call1((text,)),
        }
    }

    fn make_unescaped(&mut self, string: Scalar) -> PyResult<Bound<'py, PyString>> {
        let inner = &self.text.as_bytes()[string.start + 1..string.end - 1];
        match self.buffer.unescape(inner) {
            Some(text) => Ok(PyString::new(self.py, text)),
            None => Err(PyValueError::new_err(format!("expected a JSON string at byte {}", string.start))),
        }
    }

    /// Cuts text that starts at this byte out of the Python string that it is in.
    fn cut(
        &mut self,
        source: &Bound<'py, PyString>,
        start: usize,
        text: &str,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (characters, bytes) = self.counted;
        let from = characters + self.text[bytes..start].chars().count();
        let to = from + text.chars().count();
        self.counted = (to, start + text.len());
        let slice = PySlice::new(self.py, isize::try_from(from)?, isize::try_from(to)?, 1);
        source.get_item(slice)
    }

    fn make_key(&mut self, key: Scalar) -> PyResult<Bound<'py, PyString>> {
        if key.escaped {
            return self.make_unescaped(key);
        }
        let text = &self.text[key.start + 1..key.end - 1];
        let bytes = text.as_bytes();
        let (first, last) = (bytes.first().unwrap_or(&0), bytes.last().unwrap_or(&0));
        let mixed = usize::from(*first) * 31 + usize::from(*last) * 7 + bytes.len();
        let known = &mut self.keys[mixed % KEYS];
        match known {
            Some((spelling, key)) if *spelling == text => Ok(key.clone()),
            _ => {
                let key = PyString::new(self.py, text);
                *known = Some((text, key.clone()));
                Ok(key)
            }
        }
    }
}

impl Visitor for Builder<'_, '_> {
    #[inline]
    fn open(&mut self, kind: Kind, _at: usize) {
        self.open.push(if kind == Kind::Object {
            Open::Object(PyDict::new(self.py), None)
        } else {
            Open::List(PyList::empty(self.py))
        });
    }

    #[inline]
    fn close(&mut self, _end: usize) {
        match self.open.pop() {
            Some(Open::List(list)) => self.put(Ok(list.into_any())),
            Some(Open::Object(object, _)) => self.put(Ok(object.into_any())),
            None => {}
        }
    }

    #[inline]
    fn key(&mut self, key: Scalar) {
        if self.error.is_some() {
            return;
        }
        let made = self.make_key(key);
        match (self.open.last_mut(), made) {
            (Some(Open::Object(_, key)), Ok(made)) => *key = Some(made),
            (_, Err(error)) => self.error = Some(error),
            (_, Ok(_)) => {}
        }
    }

    #[inline]
    fn scalar(&mut self, scalar: Scalar) {
        if self.error.is_none() {
            let value = self.make_scalar(scalar);
            self.put(value);
        }
    }
}
