//! What the gateway authenticates with at a server.

use http::header::{AUTHORIZATION, HeaderMap, HeaderValue, InvalidHeaderValue};

/// What the gateway authenticates with at a server, in place of what clients send.
#[derive(Debug, Clone)]
pub(crate) struct ServerKey {
    authorization: HeaderValue,
    /// The key alone, for servers that expect it in `x-api-key`.
    plain: Option<HeaderValue>,
}

impl ServerKey {
    /// Returns a key.
    pub(crate) fn bearer(key: &str) -> Result<Self, InvalidHeaderValue> {
        let authorization = sensitive(&format!("Bearer {key}"))?;
        Ok(ServerKey { authorization, plain: Some(sensitive(key)?) })
    }

    /// Returns a name and a password as a URL spells them.
    pub(crate) fn basic(user_info: &str) -> Result<Self, InvalidHeaderValue> {
        let (name, password) = user_info.split_once(':').unwrap_or((user_info, ""));
        let mut text = decode_percent(name);
        text.push(b':');
        text.extend(decode_percent(password));
        let authorization = sensitive(&format!("Basic {}", encode_base64(&text)))?;
        Ok(ServerKey { authorization, plain: None })
    }

    /// Replaces what the client sent. `wants_plain`: the server expects the key alone.
    pub(crate) fn replace_in(&self, headers: &mut HeaderMap, wants_plain: bool) {
        headers.remove(AUTHORIZATION);
        headers.remove("x-api-key");
        match &self.plain {
            Some(plain) if wants_plain => headers.insert("x-api-key", plain.clone()),
            _ => headers.insert(AUTHORIZATION, self.authorization.clone()),
        };
    }
}

fn sensitive(text: &str) -> Result<HeaderValue, InvalidHeaderValue> {
    let mut value = HeaderValue::from_str(text)?;
    value.set_sensitive(true);
    Ok(value)
}

/// Returns the bytes that a part of a URL stands for.
fn decode_percent(text: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let code = match (first, tail) {
            (b'%', [high, low, ..]) => {
                let digit =
                    |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
                digit(*high).zip(digit(*low)).map(|(high, low)| high << 4 | low)
            }
            _ => None,
        };
        out.push(code.unwrap_or(*first));
        rest = if code.is_some() { &tail[2..] } else { tail };
    }
    out
}

fn encode_base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let group =
            chunk.iter().fold(0_u32, |group, byte| group << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        for at in 0..4 {
            let digit = usize::try_from(group >> (18 - 6 * at) & 63).unwrap_or_default();
            out.push(if at <= chunk.len() { char::from(DIGITS[digit]) } else { '=' });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_sent_as_the_standard_says() {
        for (text, expected) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg==")]
        {
            assert_eq!(encode_base64(text.as_bytes()), expected);
        }
        assert_eq!(decode_percent("a%40b%zz%2"), b"a@b%zz%2");
        let key = ServerKey::basic("Aladdin:open%20sesame").unwrap();
        let mut headers = HeaderMap::new();
        headers.insert("x-api-key", "client".parse().unwrap());
        key.replace_in(&mut headers, true);
        assert_eq!(headers[AUTHORIZATION], "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
        assert!(!headers.contains_key("x-api-key"));
        assert!(!format!("{key:?}").contains("QWxh"));
    }
}
