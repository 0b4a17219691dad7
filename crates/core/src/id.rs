//! Typed ids. A page cannot be passed where a job is expected, and what a user sees says what it is (`sub_12`).

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::{fmt, str::FromStr};

/// Why a piece of text is not an id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected an id like {prefix}_123, got {got:?}")]
pub struct IdError {
    prefix: &'static str,
    got: String,
}

macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(i64);

        impl $name {
            /// The prefix that every id of this kind is written with.
            pub const PREFIX: &'static str = $prefix;

            pub const fn from_raw(raw: i64) -> Self {
                Self(raw)
            }

            pub const fn raw(self) -> i64 {
                self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($prefix, "_{}"), self.0)
            }
        }

        impl FromStr for $name {
            type Err = IdError;

            fn from_str(text: &str) -> Result<Self, IdError> {
                text.strip_prefix(concat!($prefix, "_"))
                    .filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))
                    .and_then(|digits| digits.parse().ok())
                    .map(Self)
                    .ok_or_else(|| IdError { prefix: $prefix, got: text.to_owned() })
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

id!(
    /// One intake.
    SubmissionId, "sub"
);
id!(
    /// A file, page or document. Unique in the whole store, not only in its submission.
    ItemId, "item"
);
id!(
    /// A queue row. Never used again, also after the job is gone.
    JobId, "job"
);
id!(
    /// One run of a state machine.
    ExecutionId, "exec"
);
id!(
    /// One join of one submission.
    JoinId, "join"
);
id!(
    /// A task for a person.
    ReviewId, "rev"
);
id!(
    /// A position in the event log. Later events have greater numbers; there may be gaps.
    EventSeq, "evt"
);

impl EventSeq {
    /// Before the first event.
    pub const START: Self = Self(0);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_do_not_mix() {
        assert_eq!("sub_7".parse::<SubmissionId>().unwrap().to_string(), "sub_7");
        let message = "item_7".parse::<SubmissionId>().unwrap_err().to_string();
        assert_eq!(message, "expected an id like sub_123, got \"item_7\"");
    }

    #[test]
    fn only_plain_digits_follow_the_prefix() {
        for bad in ["sub_", "sub_-1", "sub_+1", "sub_1x", "sub_99999999999999999999", ""] {
            assert!(bad.parse::<SubmissionId>().is_err(), "{bad:?} was taken for an id");
        }
    }

    #[test]
    fn ids_are_strings_in_json() {
        let json = serde_json::to_string(&JobId::from_raw(3)).unwrap();
        assert_eq!(json, "\"job_3\"");
        assert_eq!(serde_json::from_str::<JobId>(&json).unwrap(), JobId::from_raw(3));
    }
}
