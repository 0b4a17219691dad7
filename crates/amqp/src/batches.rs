//! Several jobs in one message, for our own workers: what a message costs the broker and both sides is then shared.

use crate::{
    envelope::{COMPONENT_HEADER, JOB_HEADER, JOB_SEPARATOR, REQUEST_HEADER, TOKEN_HEADER},
    outstanding::Lease,
    publisher::Outgoing,
};
use lapin::types::{AMQPValue, LongString};

/// A message is full when its body has this many bytes, however few jobs it carries.
const FULL: usize = 128 * 1024;

/// Puts messages together that carry work of one submission and stage under one token, at most `most` of them; the jobs of
/// each are returned beside them. A message with several jobs names them all, and its body is the list of their bodies.
pub(crate) fn gather(leases: Vec<Lease>, messages: Vec<Outgoing>, most: usize) -> (Vec<Vec<Lease>>, Vec<Outgoing>) {
    let mut carried: Vec<Vec<Lease>> = Vec::new();
    let mut gathered: Vec<Outgoing> = Vec::new();
    for (lease, message) in leases.into_iter().zip(messages) {
        if let (Some(jobs), Some(last)) = (carried.last_mut(), gathered.last_mut())
            && jobs.len() < most
            && last.body.len() + message.body.len() < FULL
            && is_alike(last, &message)
        {
            if jobs.len() == 1 {
                last.body.insert(0, b'[');
            } else {
                last.body.pop();
            }
            last.body.push(b',');
            last.body.extend_from_slice(&message.body);
            last.body.push(b']');
            jobs.push(lease);
        } else {
            carried.push(vec![lease]);
            gathered.push(message);
        }
    }
    for (jobs, message) in carried.iter().zip(&mut gathered).filter(|(jobs, _)| jobs.len() > 1) {
        name_all(jobs, message);
    }
    (carried, gathered)
}

fn is_alike(one: &Outgoing, other: &Outgoing) -> bool {
    let same = |name| header(one, name) == header(other, name);
    one.exchange == other.exchange
        && one.key == other.key
        && [REQUEST_HEADER, COMPONENT_HEADER, TOKEN_HEADER].into_iter().all(same)
}

fn header<'m>(message: &'m Outgoing, name: &str) -> Option<&'m AMQPValue> {
    message.properties.headers().as_ref()?.inner().get(name)
}

fn name_all(jobs: &[Lease], message: &mut Outgoing) {
    let names: Vec<String> = jobs.iter().map(|(job, _)| job.to_string()).collect();
    let mut headers = message.properties.headers().clone().unwrap_or_default();
    let names = LongString::from(names.join(&JOB_SEPARATOR.to_string()));
    headers.insert(JOB_HEADER.into(), AMQPValue::LongString(names));
    message.properties = std::mem::take(&mut message.properties).with_headers(headers);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::publisher;
    use bindery_core::{JobId, job::Token};
    use lapin::types::FieldTable;

    fn messages(of: &[(i64, &str)]) -> (Vec<Lease>, Vec<Outgoing>) {
        let one = |(job, request): &(i64, &str)| {
            let mut headers = FieldTable::default();
            publisher::header(&mut headers, REQUEST_HEADER, *request);
            publisher::header(&mut headers, JOB_HEADER, JobId::from_raw(*job).to_string());
            publisher::header(&mut headers, TOKEN_HEADER, "9");
            let body = format!("{{\"n\":{job}}}").into_bytes();
            ((JobId::from_raw(*job), Token(9)), Outgoing::json("x".into(), "key", job.to_string(), headers, body))
        };
        of.iter().map(one).unzip()
    }

    #[test]
    fn jobs_of_one_submission_share_a_message() {
        let (leases, outgoing) = messages(&[(1, "a"), (2, "a"), (3, "a"), (4, "b"), (5, "b")]);
        let (carried, gathered) = gather(leases, outgoing, 2);
        let bodies: Vec<_> = gathered.iter().map(|one| String::from_utf8_lossy(&one.body).into_owned()).collect();
        assert_eq!(bodies, ["[{\"n\":1},{\"n\":2}]", "{\"n\":3}", "[{\"n\":4},{\"n\":5}]"]);
        assert_eq!(carried.iter().map(Vec::len).collect::<Vec<_>>(), [2, 1, 2]);
        let named = |place: usize| header(&gathered[place], JOB_HEADER).cloned();
        assert_eq!(named(0), Some(AMQPValue::LongString("job_1,job_2".into())));
        assert_eq!(named(1), Some(AMQPValue::LongString("job_3".into())));
    }

    #[test]
    fn three_in_one_are_one_list() {
        let (leases, outgoing) = messages(&[(1, "a"), (2, "a"), (3, "a")]);
        let (_, gathered) = gather(leases, outgoing, 10);
        let read: serde_json::Value = serde_json::from_slice(&gathered[0].body).unwrap();
        assert_eq!(read, serde_json::json!([{"n": 1}, {"n": 2}, {"n": 3}]));
    }
}
