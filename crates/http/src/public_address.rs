//! Addresses that nothing out of a workflow or a page may speak to: this machine, the networks around it, and the services by
//! which clouds tell a machine its secrets.

use std::{
    error, fmt,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
};
use ureq::{
    Error,
    config::Config,
    http::Uri,
    unversioned::{
        resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver},
        transport::NextTimeout,
    },
};

/// The address guard: resolves names, and refuses those that lead to an address that is not public. The connection goes to the very
/// addresses that were looked at.
#[derive(Debug, Default)]
pub(crate) struct Guarded(DefaultResolver);

impl Resolver for Guarded {
    fn resolve(&self, uri: &Uri, config: &Config, timeout: NextTimeout) -> Result<ResolvedSocketAddrs, Error> {
        let found = self.0.resolve(uri, config, timeout)?;
        // A name with a public and a private address is no name to trust.
        match found.iter().find_map(|address| Some((address.ip(), why_not_public(address.ip())?))) {
            None => Ok(found),
            Some((address, what)) => Err(Error::Other(Box::new(PrivateAddress { address, what }))),
        }
    }
}

/// An address that the guard has refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrivateAddress {
    address: IpAddr,
    what: &'static str,
}

impl error::Error for PrivateAddress {}

impl fmt::Display for PrivateAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { address, what } = self;
        write!(f, "it leads to {address}, which is {what}")
    }
}

/// What kind of address it is, if it is not a public one.
fn why_not_public(address: IpAddr) -> Option<&'static str> {
    match address {
        IpAddr::V4(address) => why_not_public_v4(address),
        IpAddr::V6(address) => why_not_public_v6(address),
    }
}

/// Where clouds tell a machine its secrets, though the address looks like any other.
const AZURE_HOST: Ipv4Addr = Ipv4Addr::new(168, 63, 129, 16);

fn why_not_public_v4(address: Ipv4Addr) -> Option<&'static str> {
    let [a, b, c, _] = address.octets();
    Some(match (a, b, c) {
        (0, ..) => "no address of a machine",
        (127, ..) => "this machine",
        (10, ..) | (172, 16..=31, _) | (192, 168, _) => "in a private network",
        (169, 254, _) => "a link-local address, where clouds keep their metadata",
        (100, 64..=127, _) => "in a provider's own network",
        (192, 0, 0 | 2) | (192, 88, 99) | (198, 18..=19, _) | (198, 51, 100) | (203, 0, 113) | (240.., ..) => {
            "a reserved address"
        }
        (224..=239, ..) => "a multicast address",
        _ if address == AZURE_HOST => "a metadata service of a cloud",
        _ => return None,
    })
}

fn why_not_public_v6(address: Ipv6Addr) -> Option<&'static str> {
    let segments = address.segments();
    let embedded = |high: u16, low: u16| {
        let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
        why_not_public_v4(Ipv4Addr::new(a, b, c, d))
    };
    match segments {
        [0, 0, 0, 0, 0, 0, 0, 0] => Some("no address of a machine"),
        [0, 0, 0, 0, 0, 0, 0, 1] => Some("this machine"),
        // Nothing public is reached by these, and what they lead to depends on the machine.
        [0, 0, 0, 0, 0, 0xffff | 0, _, _] => Some("an IPv4 address written as IPv6"),
        [0xfc00..=0xfdff | 0xfec0..=0xfeff, ..] | [0x0064, 0xff9b, 1, ..] => Some("in a private network"),
        [0xfe80..=0xfebf, ..] => Some("a link-local address"),
        [0xff00..=0xffff, ..] => Some("a multicast address"),
        [0x2001, 0 | 0x0db8, ..] | [0x0100, 0, 0, 0, ..] | [0x3fff, 0..=0x0fff, ..] => Some("a reserved address"),
        // Ways to an IPv4 address, which counts then.
        [0x0064, 0xff9b, 0, 0, 0, 0, high, low] | [0x2002, high, low, ..] => embedded(high, low),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_that_are_not_public_are_known() {
        let private = [
            "0.0.0.0",
            "0.1.2.3",
            "10.0.0.1",
            "100.64.0.1",
            "100.100.100.200",
            "127.0.0.1",
            "127.9.9.9",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.1",
            "192.0.2.1",
            "192.88.99.1",
            "192.168.1.1",
            "198.18.0.1",
            "198.19.255.1",
            "198.51.100.7",
            "203.0.113.9",
            "224.0.0.1",
            "239.1.1.1",
            "240.0.0.1",
            "255.255.255.255",
            "168.63.129.16",
            "::",
            "::1",
            "::ffff:127.0.0.1",
            "::ffff:8.8.8.8",
            "::127.0.0.1",
            "fc00::1",
            "fd00:ec2::254",
            "fe80::1",
            "fec0::1",
            "ff02::1",
            "2001:db8::1",
            "2001::1",
            "100::1",
            "64:ff9b::7f00:1",
            "64:ff9b:1::1",
            "2002:a00:1::1",
            "2002:7f00:1::1",
        ];
        for address in private {
            assert!(why_not_public(address.parse().unwrap()).is_some(), "{address}");
        }
    }

    #[test]
    fn public_addresses_are_none_of_them() {
        let public = [
            "8.8.8.8",
            "1.1.1.1",
            "100.63.0.1",
            "100.128.0.1",
            "172.15.0.1",
            "172.32.0.1",
            "192.0.1.1",
            "192.167.0.1",
            "192.0.99.1",
            "192.88.2.1",
            "198.17.0.1",
            "198.20.0.1",
            "223.255.255.255",
            "2606:4700::1111",
            "2a00:1450:4001::1",
            "64:ff9b::808:808",
            "2002:808:808::1",
        ];
        for address in public {
            assert_eq!(why_not_public(address.parse().unwrap()), None, "{address}");
        }
    }
}
