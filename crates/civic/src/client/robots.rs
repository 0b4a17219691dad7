//! What a site's robots.txt allows (RFC 9309): the group that names us, else the one for all; the longest rule that fits
//! decides, and of two as long the one that allows. `*` stands for anything, `$` for the end. What is no rule is passed
//! over, so that a page that is served in its place forbids nothing.

use std::time::Duration;

/// More of a file is not read.
pub const LARGEST: usize = 512 * 1024;

/// The rules for one of us.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Robots {
    rules: Vec<Rule>,
    pub crawl_delay: Option<Duration>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Rule {
    allows: bool,
    pattern: String,
}

/// The lines for some agents.
#[derive(Default)]
struct Group {
    agents: Vec<String>,
    robots: Robots,
    has_rules: bool,
}

impl Robots {
    /// `agent` is the name without a version, e.g. `bindery`.
    pub fn parse(text: &str, agent: &str) -> Self {
        let mut groups: Vec<Group> = Vec::new();
        for line in text.trim_start_matches('\u{feff}').lines() {
            let line = line.split_once('#').map_or(line, |(before, _)| before);
            let Some((name, value)) = line.split_once(':') else { continue };
            let (name, value) = (name.trim().to_ascii_lowercase(), value.trim());
            if name == "user-agent" {
                // Agents one below the other share the rules that follow.
                if groups.last().is_none_or(|group| group.has_rules) {
                    groups.push(Group::default());
                }
                if let Some(group) = groups.last_mut() {
                    group.agents.push(value.to_ascii_lowercase());
                }
                continue;
            }
            let Some(group) = groups.last_mut() else { continue };
            match name.as_str() {
                "allow" | "disallow" => {
                    group.has_rules = true;
                    // An empty one forbids nothing.
                    if !value.is_empty() {
                        group.robots.rules.push(Rule { allows: name == "allow", pattern: value.to_owned() });
                    }
                }
                "crawl-delay" => {
                    group.has_rules = true;
                    let seconds = value.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
                    group.robots.crawl_delay = seconds.or(group.robots.crawl_delay);
                }
                _ => {}
            }
        }
        let agent = agent.to_ascii_lowercase();
        let named = |group: &&Group, wanted: &str| group.agents.iter().any(|name| name == wanted);
        let wanted = if groups.iter().any(|group| named(&group, &agent)) { agent.as_str() } else { "*" };
        let mut robots = Self::default();
        for group in groups.iter().filter(|group| named(group, wanted)) {
            robots.rules.extend(group.robots.rules.iter().cloned());
            robots.crawl_delay = robots.crawl_delay.max(group.robots.crawl_delay);
        }
        robots
    }

    /// The rule that forbids a path (with its query), if one does.
    pub fn forbids(&self, path: &str) -> Option<String> {
        let fitting = self.rules.iter().filter(|rule| fits(rule.pattern.as_bytes(), path.as_bytes()));
        let decides = fitting.max_by_key(|rule| (rule.pattern.len(), rule.allows))?;
        (!decides.allows).then(|| format!("Disallow: {}", decides.pattern))
    }
}

/// Whether a path begins as the pattern says. Takes time in proportion to the product of both lengths at worst.
fn fits(pattern: &[u8], path: &[u8]) -> bool {
    let (pattern, to_the_end) = match pattern {
        [before @ .., b'$'] => (before, true),
        all => (all, false),
    };
    let (mut at, mut in_path) = (0, 0);
    // Where to go on when it does not fit: behind the last star, one byte further.
    let mut again: Option<(usize, usize)> = None;
    loop {
        match (pattern.get(at), path.get(in_path)) {
            (None, None) => return true,
            (None, Some(_)) if !to_the_end => return true,
            (Some(b'*'), _) => {
                again = Some((at + 1, in_path));
                at += 1;
            }
            (Some(wanted), Some(found)) if wanted == found => {
                at += 1;
                in_path += 1;
            }
            _ => match again {
                Some((behind, from)) if from < path.len() => {
                    again = Some((behind, from + 1));
                    (at, in_path) = (behind, from + 1);
                }
                _ => return false,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "\u{feff}# of a city
User-agent: *
Disallow: /admin
Allow: /admin/agendas
Disallow: /*.axd$
Crawl-delay: 2.5
Sitemap: https://example.com/sitemap.xml

User-Agent: greedybot
User-agent: Bindery
Disallow: /private # all of it
Disallow:

User-agent: other
Disallow: /
";

    #[test]
    fn the_longest_rule_of_the_fitting_group_decides() {
        let all = Robots::parse(FILE, "somebody");
        assert_eq!(all.forbids("/admin/users").as_deref(), Some("Disallow: /admin"));
        assert_eq!(all.forbids("/admin/agendas/7"), None);
        assert_eq!(all.forbids("/x/trace.axd").as_deref(), Some("Disallow: /*.axd$"));
        assert_eq!(all.forbids("/x/trace.axd?a=1"), None);
        assert_eq!(all.forbids("/Calendar.aspx"), None);
        assert_eq!(all.crawl_delay, Some(Duration::from_millis(2500)));
    }

    #[test]
    fn a_group_that_names_us_counts_alone() {
        let ours = Robots::parse(FILE, "bindery");
        assert_eq!(ours.forbids("/private/x").as_deref(), Some("Disallow: /private"));
        assert_eq!(ours.forbids("/admin"), None);
        assert_eq!(ours.crawl_delay, None);
        assert!(Robots::parse(FILE, "other").forbids("/").is_some());
    }

    #[test]
    fn nonsense_forbids_nothing() {
        for text in
            ["", "<!doctype html><title>Not found: 404</title>", "Disallow: /", "User-agent: *\nCrawl-delay: -1"]
        {
            assert_eq!(Robots::parse(text, "bindery"), Robots::default(), "{text}");
        }
        let stars = Robots::parse(&format!("User-agent: *\nDisallow: /{}x", "*a".repeat(50)), "bindery");
        assert_eq!(stars.forbids(&format!("/{}", "a".repeat(5000))), None, "and takes no time about it");
    }

    proptest::proptest! {
        #[test]
        fn any_file_and_any_path_are_survived(text: String, rule: String, path: String) {
            Robots::parse(&text, "bindery").forbids(&path);
            Robots::parse(&format!("User-agent: *\nDisallow: {rule}"), "bindery").forbids(&path);
        }
    }

    #[test]
    fn of_two_as_long_the_one_that_allows_counts() {
        let robots = Robots::parse("User-agent: *\nDisallow: /page\nAllow: /page", "bindery");
        assert_eq!(robots.forbids("/page"), None);
    }
}
