//! What a task's resource names.

/// How a task ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pattern {
    /// With the answer to its request.
    Request,
    /// With the job that it started: `.sync`.
    Job,
    /// The same, with outputs as JSON: `.sync:2`.
    JobAsJson,
    /// When its token is reported: `.waitForTaskToken`.
    Token,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resource<'a> {
    /// `arn:aws:states:::service:action`: the service as history names it, the action with its pattern.
    Service {
        service: String,
        action: String,
        pattern: Pattern,
    },
    Activity(&'a str),
    /// A function, or whatever else a name stands for.
    Function(&'a str),
}

impl<'a> Resource<'a> {
    pub fn parse(text: &'a str) -> Self {
        let parts: Vec<&str> = text.split(':').collect();
        match parts[..] {
            ["arn", _, "states", "", "", ref rest @ ..] if rest.len() >= 2 => {
                // `.sync:2` has a colon too.
                let split = rest.iter().position(|part| part.contains('.')).unwrap_or(rest.len() - 1);
                let (service, action) = (rest[..split].join(":"), rest[split..].join(":"));
                let pattern = match action.split_once('.').map(|(_, pattern)| pattern) {
                    Some("sync") => Pattern::Job,
                    Some("sync:2") => Pattern::JobAsJson,
                    Some("waitForTaskToken") => Pattern::Token,
                    _ => Pattern::Request,
                };
                Self::Service { service, action, pattern }
            }
            ["arn", _, "states", _, _, "activity", ..] => Self::Activity(text),
            _ => Self::Function(text),
        }
    }

    pub fn pattern(&self) -> Pattern {
        if let Self::Service { pattern, .. } = self { *pattern } else { Pattern::Request }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resources_are_told_apart() {
        let service = |service: &str, action: &str, pattern| Resource::Service {
            service: service.into(),
            action: action.into(),
            pattern,
        };
        assert_eq!(Resource::parse("arn:aws:states:::lambda:invoke"), service("lambda", "invoke", Pattern::Request));
        assert_eq!(
            Resource::parse("arn:aws:states:::aws-sdk:s3:getObject"),
            service("aws-sdk:s3", "getObject", Pattern::Request)
        );
        assert_eq!(
            Resource::parse("arn:aws:states:::states:startExecution.sync:2"),
            service("states", "startExecution.sync:2", Pattern::JobAsJson)
        );
        assert_eq!(
            Resource::parse("arn:aws:states:::sqs:sendMessage.waitForTaskToken"),
            service("sqs", "sendMessage.waitForTaskToken", Pattern::Token)
        );
        let activity = "arn:aws:states:us-east-1:123456789012:activity:work";
        assert_eq!(Resource::parse(activity), Resource::Activity(activity));
        assert_eq!(Resource::parse("resize"), Resource::Function("resize"));
        assert_eq!(Resource::parse(""), Resource::Function(""));
    }
}
