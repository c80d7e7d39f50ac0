//! JSON without crates, under the names that `serde_json` has: for the example in docs/clients.md.

use std::{fmt, io, iter::Peekable, ops::Index, str::Chars};

pub enum Value {
    Null,
    Word(String),
    Text(String),
    List(Vec<Value>),
    Object(Vec<(String, Value)>),
}

impl Value {
    pub fn as_str(&self) -> Option<&str> {
        if let Value::Text(text) = self {
            Some(text)
        } else {
            None
        }
    }
    pub fn as_u64(&self) -> Option<u64> {
        if let Value::Word(word) = self {
            word.parse().ok()
        } else {
            None
        }
    }
    pub fn as_array(&self) -> Option<&Vec<Value>> {
        if let Value::List(list) = self {
            Some(list)
        } else {
            None
        }
    }
}

impl Index<&str> for Value {
    type Output = Value;
    fn index(&self, key: &str) -> &Value {
        let Value::Object(fields) = self else {
            return &Value::Null;
        };
        fields
            .iter()
            .find(|(name, _)| name == key)
            .map_or(&Value::Null, |(_, value)| value)
    }
}

impl fmt::Display for Value {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Value::Null => write!(out, "null"),
            Value::Word(word) => write!(out, "{word}"),
            Value::Text(text) => quoted(text, out),
            Value::List(list) => {
                for (n, value) in list.iter().enumerate() {
                    write!(out, "{}{value}", if n > 0 { "," } else { "[" })?;
                }
                write!(out, "{}", if list.is_empty() { "[]" } else { "]" })
            }
            Value::Object(fields) => {
                for (n, (name, value)) in fields.iter().enumerate() {
                    write!(out, "{}", if n > 0 { "," } else { "{" })?;
                    quoted(name, out)?;
                    write!(out, ":{value}")?;
                }
                write!(out, "{}", if fields.is_empty() { "{}" } else { "}" })
            }
        }
    }
}

fn quoted(text: &str, out: &mut fmt::Formatter) -> fmt::Result {
    write!(out, "\"")?;
    for each in text.chars() {
        match each {
            '"' | '\\' => write!(out, "\\{each}")?,
            ' '.. => write!(out, "{each}")?,
            _ => write!(out, "\\u{:04x}", each as u32)?,
        }
    }
    write!(out, "\"")
}

pub fn from_str(text: &str) -> io::Result<Value> {
    let mut rest = text.chars().peekable();
    value(&mut rest)
        .filter(|_| token(&mut rest).is_none())
        .ok_or(io::ErrorKind::InvalidData.into())
}

fn token(rest: &mut Peekable<Chars>) -> Option<char> {
    while rest.next_if(|each| " \t\r\n".contains(*each)).is_some() {}
    rest.peek().copied()
}

fn value(rest: &mut Peekable<Chars>) -> Option<Value> {
    match token(rest)? {
        '"' => Some(Value::Text(string(rest)?)),
        '[' => {
            let mut list = Vec::new();
            rest.next();
            while token(rest)? != ']' {
                list.push(value(rest)?);
                token(rest).filter(|each| ",]".contains(*each))?;
                rest.next_if_eq(&',');
            }
            rest.next().map(|_| Value::List(list))
        }
        '{' => {
            let mut fields = Vec::new();
            rest.next();
            while token(rest)? != '}' {
                let name = string(rest)?;
                token(rest)?;
                rest.next_if_eq(&':')?;
                fields.push((name, value(rest)?));
                token(rest).filter(|each| ",}".contains(*each))?;
                rest.next_if_eq(&',');
            }
            rest.next().map(|_| Value::Object(fields))
        }
        _ => {
            let mut word = String::new();
            while let Some(each) = rest.next_if(|c| c.is_ascii_alphanumeric() || "+-.".contains(*c))
            {
                word.push(each);
            }
            if word == "null" {
                Some(Value::Null)
            } else {
                Some(word).filter(|w| !w.is_empty()).map(Value::Word)
            }
        }
    }
}

fn string(rest: &mut Peekable<Chars>) -> Option<String> {
    let mut units = Vec::new(); // UTF-16, as \u escapes are
    rest.next_if_eq(&'"')?;
    loop {
        match rest.next()? {
            '"' => return Some(String::from_utf16_lossy(&units)),
            '\\' => units.push(match rest.next()? {
                'n' => 10,
                't' => 9,
                'r' => 13,
                'b' => 8,
                'f' => 12,
                'u' => u16::from_str_radix(&rest.by_ref().take(4).collect::<String>(), 16).ok()?,
                other => other as u16,
            }),
            each => units.extend(each.encode_utf16(&mut [0; 2]).iter()),
        }
    }
}
