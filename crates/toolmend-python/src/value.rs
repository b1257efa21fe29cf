//! JSON text to Python objects, as `json.loads` makes them.
//!
//! The text was judged before it comes here, so nothing is checked twice; what is no JSON after all ends in an error
//! and never in a wrong value. Open brackets are a list and not a recursion.

use memchr::memchr2;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyNone, PySlice, PyString};

/// How many keys are remembered. Records repeat a handful of them, and a string that exists needs no new hash.
const KEYS: usize = 64;

/// Shorter strings are made faster than they are cut out.
const LONG: usize = 256;

/// How many bytes of a string are looked at one by one.
const NEAR: usize = 16;

/// A bracket that is still open.
enum Open<'t, 'py> {
    List(Bound<'py, PyList>),
    Object(Bound<'py, PyDict>, Option<(&'t str, Bound<'py, PyString>)>),
}

/// Builds the value of a strict JSON text.
pub(crate) fn build<'py>(py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyAny>> {
    Builder::new(py, text, None).document()
}

/// The same for the text of this string.
pub(crate) fn build_of<'py>(source: &Bound<'py, PyString>, text: &str) -> PyResult<Bound<'py, PyAny>> {
    Builder::new(source.py(), text, Some(source)).document()
}

struct Builder<'t, 'py> {
    py: Python<'py>,
    text: &'t str,
    at: usize,
    keys: [Option<(&'t str, Bound<'py, PyString>)>; KEYS],
    buffer: String,
    /// The string that the text is of. Python does not keep strings as UTF-8, so cutting a part out is cheaper than reading it.
    source: Option<&'t Bound<'py, PyString>>,
    /// How many characters stand before how many bytes.
    counted: (usize, usize),
}

impl<'t, 'py> Builder<'t, 'py> {
    fn new(py: Python<'py>, text: &'t str, source: Option<&'t Bound<'py, PyString>>) -> Self {
        let keys = [const { None }; KEYS];
        Builder { py, text, at: 0, keys, buffer: String::new(), source, counted: (0, 0) }
    }

    fn document(&mut self) -> PyResult<Bound<'py, PyAny>> {
        let mut open: Vec<Open<'t, 'py>> = Vec::new();
        loop {
            let mut value = match self.peek()? {
                b'{' => {
                    self.at += 1;
                    let object = PyDict::new(self.py);
                    if self.peek()? == b'}' {
                        self.at += 1;
                        object.into_any()
                    } else {
                        open.push(Open::Object(object, Some(self.key()?)));
                        continue;
                    }
                }
                b'[' => {
                    self.at += 1;
                    let list = PyList::empty(self.py);
                    if self.peek()? == b']' {
                        self.at += 1;
                        list.into_any()
                    } else {
                        open.push(Open::List(list));
                        continue;
                    }
                }
                _ => self.scalar()?,
            };
            // The value goes where it belongs, and with every bracket that closes the bracket's value does.
            loop {
                let Some(inner) = open.last_mut() else { return Ok(value) };
                let closer = match inner {
                    Open::List(list) => {
                        list.append(value)?;
                        b']'
                    }
                    Open::Object(object, key) => {
                        let (_, key) = key.take().ok_or_else(|| self.broken())?;
                        object.set_item(key, value)?;
                        b'}'
                    }
                };
                let next = self.peek()?;
                self.at += 1;
                if next == b',' {
                    if let Open::Object(_, key) = inner {
                        *key = Some(self.key()?);
                    }
                    break;
                }
                if next != closer {
                    return Err(self.broken());
                }
                value = match open.pop() {
                    Some(Open::List(list)) => list.into_any(),
                    Some(Open::Object(object, _)) => object.into_any(),
                    None => return Err(self.broken()),
                };
            }
        }
    }

    /// The next byte that is no white space.
    fn peek(&mut self) -> PyResult<u8> {
        let bytes = self.text.as_bytes();
        while let Some(&byte) = bytes.get(self.at) {
            if !matches!(byte, b' ' | b'\n' | b'\r' | b'\t') {
                return Ok(byte);
            }
            self.at += 1;
        }
        Err(self.broken())
    }

    fn scalar(&mut self) -> PyResult<Bound<'py, PyAny>> {
        let bytes = self.text.as_bytes();
        match bytes[self.at] {
            b'"' => Ok(match self.string()? {
                Text::Plain(text) => match self.source {
                    Some(source) if text.len() >= LONG && !text.is_ascii() => self.cut(source, text)?,
                    _ => PyString::new(self.py, text).into_any(),
                },
                Text::Escaped => PyString::new(self.py, &self.buffer).into_any(),
            }),
            b't' => self.literal("true", PyBool::new(self.py, true).to_owned().into_any()),
            b'f' => self.literal("false", PyBool::new(self.py, false).to_owned().into_any()),
            b'n' => self.literal("null", PyNone::get(self.py).to_owned().into_any()),
            _ => self.number(),
        }
    }

    /// The string that was just read, out of the one that it stands in.
    fn cut(&mut self, source: &Bound<'py, PyString>, text: &str) -> PyResult<Bound<'py, PyAny>> {
        let start = self.at - 1 - text.len();
        let (characters, bytes) = self.counted;
        let from = characters + self.text[bytes..start].chars().count();
        let to = from + text.chars().count();
        self.counted = (to, start + text.len());
        let place = PySlice::new(self.py, isize::try_from(from)?, isize::try_from(to)?, 1);
        source.get_item(place)
    }

    fn literal(&mut self, word: &str, value: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        if !self.text[self.at..].starts_with(word) {
            return Err(self.broken());
        }
        self.at += word.len();
        Ok(value)
    }

    /// Whole numbers of any size stay exact, and the others become what Python reads in their text.
    fn number(&mut self) -> PyResult<Bound<'py, PyAny>> {
        let bytes = self.text.as_bytes();
        let start = self.at;
        let mut whole = true;
        while let Some(&byte) = bytes.get(self.at) {
            match byte {
                b'0'..=b'9' | b'-' => {}
                b'.' | b'e' | b'E' | b'+' => whole = false,
                _ => break,
            }
            self.at += 1;
        }
        let text = &self.text[start..self.at];
        if !whole {
            let number: f64 = text.parse().map_err(|_| self.broken())?;
            return Ok(PyFloat::new(self.py, number).into_any());
        }
        match text.parse::<i64>() {
            Ok(number) => Ok(number.into_pyobject(self.py)?.into_any()),
            Err(_) if text.len() > 18 => self.py.get_type::<PyInt>().call1((text,)),
            Err(_) => Err(self.broken()),
        }
    }

    fn key(&mut self) -> PyResult<(&'t str, Bound<'py, PyString>)> {
        if self.peek()? != b'"' {
            return Err(self.broken());
        }
        let (spelling, key) = match self.string()? {
            Text::Escaped => ("", PyString::new(self.py, &self.buffer)),
            Text::Plain(text) => {
                let bytes = text.as_bytes();
                let (first, last) = (bytes.first().unwrap_or(&0), bytes.last().unwrap_or(&0));
                let mixed = usize::from(*first) * 31 + usize::from(*last) * 7 + bytes.len();
                let known = &mut self.keys[mixed % KEYS];
                match known {
                    Some((spelling, key)) if *spelling == text => (text, key.clone()),
                    _ => {
                        let key = PyString::new(self.py, text);
                        *known = Some((text, key.clone()));
                        (text, key)
                    }
                }
            }
        };
        if self.peek()? != b':' {
            return Err(self.broken());
        }
        self.at += 1;
        Ok((spelling, key))
    }

    /// A string as it stands, or decoded in the buffer where it has escapes.
    fn string(&mut self) -> PyResult<Text<'t>> {
        let bytes = self.text.as_bytes();
        let start = self.at + 1;
        let mut from = start;
        self.buffer.clear();
        loop {
            let stop = string_stop(bytes, from).ok_or_else(|| self.broken())?;
            if bytes[stop] == b'"' {
                self.at = stop + 1;
                if from == start {
                    return Ok(Text::Plain(&self.text[start..stop]));
                }
                self.buffer.push_str(&self.text[from..stop]);
                return Ok(Text::Escaped);
            }
            self.buffer.push_str(&self.text[from..stop]);
            from = self.escape(stop)?;
        }
    }

    /// Decodes the escape at this byte and returns where it ends.
    fn escape(&mut self, at: usize) -> PyResult<usize> {
        let plain = match self.text.as_bytes().get(at + 1) {
            Some(b'n') => '\n',
            Some(b't') => '\t',
            Some(b'r') => '\r',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(&mark @ (b'"' | b'\\' | b'/')) => char::from(mark),
            Some(b'u') => {
                let high = self.hex(at + 2)?;
                let (code, end) = if (0xd800..0xdc00).contains(&high) {
                    let low = self.hex(at + 8)?.checked_sub(0xdc00).ok_or_else(|| self.broken())?;
                    (0x10000 + ((high - 0xd800) << 10) + low, at + 12)
                } else {
                    (high, at + 6)
                };
                self.buffer.push(char::from_u32(code).ok_or_else(|| self.broken())?);
                return Ok(end);
            }
            _ => return Err(self.broken()),
        };
        self.buffer.push(plain);
        Ok(at + 2)
    }

    fn hex(&self, at: usize) -> PyResult<u32> {
        let digits = self.text.get(at..at + 4).ok_or_else(|| self.broken())?;
        u32::from_str_radix(digits, 16).map_err(|_| self.broken())
    }

    /// Cannot happen behind the strict pass; if it does, nothing is made up.
    fn broken(&self) -> PyErr {
        PyValueError::new_err(format!("no JSON at byte {}", self.at))
    }
}

/// The next quote or backslash. Most strings are short, and code in a string is full of escapes: looking at a few bytes is
/// cheaper than starting a search.
fn string_stop(bytes: &[u8], from: usize) -> Option<usize> {
    let near = bytes.get(from..)?.iter().take(NEAR).position(|byte| matches!(byte, b'"' | b'\\'));
    match near {
        Some(near) => Some(from + near),
        None => memchr2(b'"', b'\\', bytes.get(from + NEAR..)?).map(|far| from + NEAR + far),
    }
}

enum Text<'t> {
    Plain(&'t str),
    Escaped,
}
