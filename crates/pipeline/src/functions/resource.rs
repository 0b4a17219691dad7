//! What a resource names.

use bindery_states::asl::stepper::Resource;

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Target<'a> {
    /// A function that the input names.
    Invoke,
    Http,
    /// Another machine.
    Start,
    Items,
    Results,
    Function(&'a str),
    /// A service that is not here.
    Other(String),
}

pub(super) fn target_of(resource: &str) -> Target<'_> {
    let (service, action) = match Resource::parse(resource) {
        Resource::Service { service, action, .. } => (service, action),
        Resource::Activity(name) | Resource::Function(name) => return Target::Function(name),
    };
    let action = action.split('.').next().unwrap_or_default();
    match (service.as_str(), action) {
        ("lambda", "invoke") => Target::Invoke,
        ("http", "invoke") => Target::Http,
        ("states", "startExecution") => Target::Start,
        ("s3", "getObject" | "listObjectsV2") => Target::Items,
        ("s3", "putObject") => Target::Results,
        _ => Target::Other(format!("{service}:{action}")),
    }
}

/// The name in an ARN of a function, without its version.
pub(super) fn function_name(text: &str) -> &str {
    text.split_once(":function:").map_or(text, |(_, rest)| rest.split(':').next().unwrap_or(rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resources_are_told_apart() {
        assert_eq!(target_of("arn:aws:states:::lambda:invoke.waitForTaskToken"), Target::Invoke);
        assert_eq!(target_of("arn:aws:states:::states:startExecution.sync:2"), Target::Start);
        assert_eq!(target_of("arn:aws:states:::http:invoke"), Target::Http);
        assert_eq!(target_of("arn:aws:states:::sqs:sendMessage"), Target::Other("sqs:sendMessage".to_owned()));
        assert_eq!(target_of("submit"), Target::Function("submit"));
        assert_eq!(function_name("arn:aws:lambda:eu-west-1:1:function:resize:3"), "resize");
        assert_eq!(function_name("resize"), "resize");
    }
}
