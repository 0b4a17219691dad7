//! Names of parts and of members of archives.

/// A target that a part refers to, as the full name of a part: `../media/a.png` seen from `ppt/slides/slide1.xml` is
/// `ppt/media/a.png`. Steps out of the package end at its root.
pub fn resolve(from_part: &str, target: &str) -> String {
    let target = target.split(['#', '?']).next().unwrap_or_default().replace('\\', "/");
    let mut steps: Vec<&str> = Vec::new();
    if !target.starts_with('/') {
        steps.extend(from_part.split('/'));
        steps.pop();
    }
    for step in target.split('/') {
        match step {
            "" | "." => {}
            ".." => {
                steps.pop();
            }
            _ => steps.push(step),
        }
    }
    steps.join("/")
}

/// A name that may be used below any folder: without steps upwards, roots, drive letters and characters that no file
/// system takes. None if nothing is left.
pub fn safe_name(name: &str) -> Option<String> {
    let name = name.replace('\\', "/");
    let steps: Vec<String> = name
        .split('/')
        .map(|step| {
            let step = step.trim_end_matches([' ', '.']).trim_start();
            let step: String = step.chars().filter(|character| !character.is_control()).collect();
            step.replace([':', '*', '?', '"', '<', '>', '|'], "_")
        })
        .filter(|step| !step.is_empty() && step != ".." && step != ".")
        .collect();
    // "C:" was a drive and not a folder.
    let drive = name.as_bytes().get(1) == Some(&b':') && name.as_bytes().first().is_some_and(u8::is_ascii_alphabetic);
    let from = usize::from(drive && steps.first().is_some_and(|step| step.len() == 2));
    let safe = steps.get(from..).unwrap_or_default().join("/");
    (!safe.is_empty()).then_some(safe)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_seen_from_the_part_that_names_them() {
        assert_eq!(resolve("ppt/slides/slide1.xml", "../media/a.png"), "ppt/media/a.png");
        assert_eq!(resolve("word/document.xml", "media/a.png"), "word/media/a.png");
        assert_eq!(resolve("word/document.xml", "/word/b.xml"), "word/b.xml");
        assert_eq!(resolve("a/b.xml", "../../../../etc/passwd"), "etc/passwd");
        assert_eq!(resolve("", "OEBPS/content.opf#x"), "OEBPS/content.opf");
    }

    #[test]
    fn no_name_leads_out_of_its_folder() {
        assert_eq!(safe_name("a/b.txt").as_deref(), Some("a/b.txt"));
        assert_eq!(safe_name("../../etc/passwd").as_deref(), Some("etc/passwd"));
        assert_eq!(safe_name("/etc/passwd").as_deref(), Some("etc/passwd"));
        assert_eq!(safe_name("C:\\Windows\\x.dll").as_deref(), Some("Windows/x.dll"));
        assert_eq!(safe_name("..\\x\0y").as_deref(), Some("xy"));
        assert_eq!(safe_name("../.."), None);
    }
}
