//! The rules of extraction as data. English; another language is another set of these tables.
//!
//! Patterns are in lower case and see text in lower case on one line, unless a table says otherwise.

use serde::{Deserialize, Serialize};

/// What the part of a document that a passage stands in is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Section {
    /// Nothing says.
    Body,
    Subject,
    Purpose,
    Action,
    Fiscal,
    Background,
    Discussion,
    Affected,
    Next,
    /// An unknown heading.
    Other,
    /// Nothing below this heading is for readers: routing, signatures, lists of files.
    Dropped,
}

/// A heading holds until the next one; a label only for its own line.
#[derive(Debug)]
pub struct HeadingRule {
    pub section: Section,
    pub only_its_line: bool,
    pub words: &'static [&'static str],
}

const fn heading(section: Section, words: &'static [&'static str]) -> HeadingRule {
    HeadingRule { section, only_its_line: false, words }
}

const fn label(section: Section, words: &'static [&'static str]) -> HeadingRule {
    HeadingRule { section, only_its_line: true, words }
}

/// What headings and labels are known, without their plural's `s`, numbering, colon.
pub const HEADINGS: &[HeadingRule] = &[
    label(
        Section::Subject,
        &[
            "subject",
            "re",
            "title",
            "agenda title",
            "item title",
            "agenda item",
            "project",
            "project name",
            "item",
            "caption",
        ],
    ),
    heading(
        Section::Action,
        &[
            "recommendation",
            "recommended action",
            "recommended motion",
            "recommended council action",
            "recommended board action",
            "recommended commission action",
            "staff recommendation",
            "department recommendation",
            "committee recommendation",
            "commission recommendation",
            "city manager's recommendation",
            "city manager recommendation",
            "manager's recommendation",
            "recommendation/action",
            "recommendation to council",
            "requested action",
            "action requested",
            "action required",
            "action recommended",
            "council action requested",
            "council action",
            "board action requested",
            "proposed action",
            "proposed motion",
            "suggested motion",
            "suggested action",
            "sample motion",
            "draft motion",
            "motion",
            "action",
            "action item",
            "ask",
        ],
    ),
    heading(
        Section::Purpose,
        &[
            "summary",
            "executive summary",
            "item summary",
            "agenda summary",
            "purpose",
            "topic",
            "issue",
            "issue statement",
            "statement of issue",
            "synopsis",
            "overview",
            "abstract",
            "description",
            "item description",
            "project description",
            "summary description",
            "request",
            "summary of request",
            "proposal",
            "proposed project",
            "report in brief",
            "objective",
            "explanation",
            "summary explanation",
            "summary of issue",
            "brief summary",
        ],
    ),
    heading(
        Section::Fiscal,
        &[
            "fiscal impact",
            "financial impact",
            "fiscal impact statement",
            "fiscal note",
            "fiscal information",
            "fiscal analysis",
            "fiscal consideration",
            "fiscal effect",
            "fiscal implication",
            "financial consideration",
            "financial implication",
            "financial information",
            "financial analysis",
            "financial statement",
            "financial summary",
            "budget impact",
            "budget implication",
            "budgetary impact",
            "budget consideration",
            "budget information",
            "budget/fiscal impact",
            "fiscal/budget impact",
            "fiscal and budget impact",
            "impact on budget",
            "impact to budget",
            "resource impact",
            "cost",
            "cost and funding",
            "total cost",
            "estimated cost",
            "cost to city",
            "funding",
            "funding source",
            "source of funding",
            "source of funds",
            "funding impact",
            "amount",
            "contract amount",
            "expenditure",
            "expenditure required",
            "amount requested",
            "budgeted amount",
            "fiscal year impact",
        ],
    ),
    heading(
        Section::Background,
        &[
            "background",
            "background information",
            "background/discussion",
            "history",
            "introduction",
            "context",
            "prior council action",
            "previous council action",
            "prior action",
            "prior board action",
            "previous action",
            "council history",
        ],
    ),
    heading(
        Section::Discussion,
        &[
            "discussion",
            "analysis",
            "staff analysis",
            "justification",
            "rationale",
            "finding",
            "consideration",
            "key issue",
            "alternative",
            "option",
            "policy consideration",
            "project analysis",
            "evaluation",
        ],
    ),
    heading(
        Section::Affected,
        &[
            "public outreach",
            "community outreach",
            "community engagement",
            "public engagement",
            "community impact",
            "public notice",
            "public notification",
            "notification",
            "noticing",
            "stakeholder",
            "who is affected",
            "equity impact",
            "racial equity impact",
            "public benefit",
        ],
    ),
    heading(
        Section::Next,
        &[
            "next step",
            "timeline",
            "schedule",
            "project schedule",
            "implementation",
            "implementation schedule",
            "implementation plan",
            "follow-up",
            "effective date",
            "timing",
            "time frame",
            "timeframe",
        ],
    ),
    heading(
        Section::Dropped,
        &[
            "attachment",
            "exhibit",
            "enclosure",
            "list of attachments",
            "supporting document",
            "reviewed by",
            "signature",
            "approval signature",
            "distribution",
            "legal review",
            "form approved",
            "roll call vote",
            "strategic plan alignment",
            "strategic goal",
            "council goal",
            "council priority",
        ],
    ),
    label(
        Section::Dropped,
        &[
            "to",
            "from",
            "via",
            "thru",
            "through",
            "cc",
            "bcc",
            "date",
            "meeting date",
            "agenda date",
            "council meeting date",
            "meeting of",
            "meeting type",
            "prepared by",
            "submitted by",
            "presented by",
            "presenter",
            "approved by",
            "approved as to form",
            "department",
            "originating department",
            "dept",
            "division",
            "staff",
            "staff contact",
            "contact",
            "contact person",
            "author",
            "phone",
            "telephone",
            "fax",
            "email",
            "e-mail",
            "website",
            "agenda section",
            "agenda category",
            "section",
            "agenda number",
            "item number",
            "item no",
            "file no",
            "file number",
            "file id",
            "report no",
            "time required",
            "time estimate",
            "category",
            "type",
            "moved by",
            "seconded by",
            "sponsor",
            "reference",
        ],
    ),
];

/// Passages that say nothing of the item. None of them keeps a passage that asks for a decision about money out: see
/// `lines`.
#[derive(Debug)]
pub struct Boilerplate {
    pub id: &'static str,
    pub pattern: &'static str,
    /// A passage with an amount is kept nevertheless.
    pub unless_money: bool,
}

const fn dropped(id: &'static str, pattern: &'static str) -> Boilerplate {
    Boilerplate { id, pattern, unless_money: false }
}

const fn dropped_without_money(id: &'static str, pattern: &'static str) -> Boilerplate {
    Boilerplate { id, pattern, unless_money: true }
}

pub const BOILERPLATE: &[Boilerplate] = &[
    dropped(
        "page-number",
        r"^(?:page\s*)?\d{1,4}(?:\s*(?:of|/)\s*\d{1,4})?$|^[-–—]\s*\d{1,4}\s*[-–—]$|^p(?:g|age)\.?\s*\d{1,4}\b",
    ),
    dropped(
        "submitted",
        r"^(?:recommended|introduced|sponsored) by .{0,80}$|^determine (?:that )?(?:the |this )?(?:item|action|project|activity) is (?:not a project|(?:categorically )?exempt)|publicly report any action|^(?:respectfully|sincerely|very truly)\b|^(?:prepared|submitted|reviewed|approved|presented|requested) (?:and \w+ )?by\b|^approved (?:as to|for) (?:form|content|submission)",
    ),
    dropped(
        "contact",
        r"\bphone\b.*\bfax\b|\b\d{5}\b.{0,12}\bphone\b|^(?:phone|tel(?:ephone)?|fax|e-?mail|website|web)\b|^(?:www\.|https?://)\S+$|^\S+@\S+$|^\(?\d{3}\)?[ .-]\d{3}[.-]\d{4}$",
    ),
    dropped(
        "letterhead",
        r"^(?:city|town|village|county|borough|township) of [a-z .'-]{2,40}$|^[a-z .'-]{2,40} (?:city council|city hall|board of (?:supervisors|commissioners|trustees))$|^(?:city council |council |commission |board )?(?:agenda|staff) (?:staff )?(?:report|memo|memorandum)$|^memorandum$|^inter-?office memo\w*$",
    ),
    dropped(
        "street-line",
        r"^\d{1,6} [a-z0-9 .'#-]{2,40}(?:street|st|avenue|ave|road|rd|boulevard|blvd|drive|dr|plaza|way|lane|ln|highway|hwy|place|pl|court|ct|square)\.?(?:,? (?:suite|ste|room|rm|floor|fl|#)\.? ?[a-z0-9-]+)?(?:[,•· ]+[a-z .]{2,30},? [a-z]{2}\.? \d{5}(?:-\d{4})?)?$|^[a-z .'-]{2,30},? (?:[a-z]{2}|california|texas|ohio|florida)\.? \d{5}(?:-\d{4})?$",
    ),
    dropped(
        "attachment-line",
        r"^(?:attachment|exhibit|appendix|enclosure|att\.)s?\b\s*(?:[a-z0-9]{1,3}\b)?\s*(?:[-–—:.)]|$)|^\d{1,2}[.)] (?:attachment|exhibit)\b",
    ),
    dropped(
        "accessibility",
        r"americans with disabilities act|reasonable accommodation|sign language|assistive listening|translation services? (?:is|are) available|auxiliary aids",
    ),
    dropped(
        "contributions",
        r"84308|disclosure of contributions?|campaign contributions?|levine act|political reform act|lobbying (?:law|ordinance|firm)",
    ),
    dropped(
        "rules-of-meeting",
        r"brown act|speaker (?:cards?|slips?)|address the (?:board|council|commission)\b|three minutes|consent calendar items? (?:are|will be)|(?:posted|published) (?:at least|in accordance)|72 hours|members of the public (?:may|who wish)|public comments? (?:will|may|is|shall)|if you (?:challenge|need|have any questions)|items? not on the (?:posted )?agenda",
    ),
    dropped(
        "enactment",
        r"^(?:now,? )?therefore,? (?:be it|the)\b.{0,60}$|^be it (?:further )?(?:resolved|ordained|enacted)\b.{0,80}$|^the following (?:resolution|ordinance) was (?:offered|read)|^(?:ayes?|noes|nays?|absent|abstain(?:ed)?|attest|passed and adopted|adopted this|introduced this|mayor|city clerk)\b|^i hereby certify|severability|held (?:to be )?(?:invalid|unconstitutional)",
    ),
    dropped("unchanged", r"^all other (?:terms|provisions)\b.{0,40}\b(?:unchanged|the same|in effect)\b"),
    dropped_without_money("recital", r"^whereas\b"),
    dropped("contents", r"\.{5,}|…{3,}|^table of contents"),
    dropped("blanks", r"_{4,}|☐|☒"),
    dropped("copyright", r"©|all rights reserved|click here|skip to (?:main )?content"),
];

/// What a body is asked to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ActionKind {
    Adopt,
    Approve,
    Authorize,
    Award,
    Appropriate,
    Amend,
    Introduce,
    Appoint,
    Deny,
    Set,
    Direct,
    Hear,
    Determine,
    Consider,
    Receive,
}

/// The words that ask for an action.
#[derive(Debug)]
pub struct ActionRule {
    pub kind: ActionKind,
    /// In the form of an order: `adopt`.
    pub verbs: &'static [&'static str],
    /// As a noun, in front of `of`, `to`, `for`: `adoption`.
    pub nouns: &'static [&'static str],
    /// From 0, nothing is decided, to 2.
    pub weight: u8,
}

const fn action(
    kind: ActionKind,
    verbs: &'static [&'static str],
    nouns: &'static [&'static str],
    weight: u8,
) -> ActionRule {
    ActionRule { kind, verbs, nouns, weight }
}

/// In the order in which they are asked: the first that fits names the kind.
pub const ACTIONS: &[ActionRule] = &[
    action(
        ActionKind::Receive,
        &[
            "receive",
            "accept the report",
            "note and file",
            "accept and file",
            "acknowledge",
            "review and comment",
            "provide feedback",
            "provide input",
        ],
        &["receipt"],
        0,
    ),
    action(
        ActionKind::Introduce,
        &["introduce", "waive", "read by title"],
        &["introduction", "first reading", "waiver"],
        2,
    ),
    action(
        ActionKind::Award,
        &["award", "execute", "enter into", "purchase", "procure", "contract"],
        &["award", "purchase", "procurement", "contract", "agreement", "amendment", "change order", "lease"],
        2,
    ),
    action(
        ActionKind::Appropriate,
        &["appropriate", "allocate", "transfer", "fund", "issue", "levy", "increase", "decrease", "reduce"],
        &["appropriation", "allocation", "budget amendment", "transfer", "issuance"],
        2,
    ),
    action(
        ActionKind::Adopt,
        &["adopt", "pass", "enact", "establish", "create", "repeal", "impose", "declare", "proclaim"],
        &["adoption", "passage", "enactment", "establishment", "resolution", "ordinance", "local law"],
        2,
    ),
    // Before what is approved: "certify that the law was kept" approves nothing.
    action(
        ActionKind::Determine,
        &["determine", "find", "further find", "certify that", "make the findings"],
        &["determination", "findings"],
        1,
    ),
    action(
        ActionKind::Approve,
        &[
            "approve",
            "ratify",
            "accept",
            "certify",
            "grant",
            "confirm",
            "concur",
            "uphold",
            "affirm",
            "support",
            "recommend",
            "renew",
            "extend",
            "vacate",
            "annex",
            "rezone",
        ],
        &["approval", "ratification", "acceptance", "certification", "confirmation", "renewal", "extension"],
        2,
    ),
    action(
        ActionKind::Authorize,
        &["authorize", "authorise", "permit", "allow", "delegate"],
        &["authorization", "authorisation", "authority"],
        2,
    ),
    action(ActionKind::Amend, &["amend", "modify", "revise", "update", "rescind"], &["modification", "revision"], 2),
    action(
        ActionKind::Appoint,
        &["appoint", "reappoint", "nominate", "elect", "select", "designate"],
        &["appointment", "reappointment", "nomination", "election"],
        1,
    ),
    action(
        ActionKind::Deny,
        &["deny", "reject", "disapprove", "overturn", "dismiss", "table"],
        &["denial", "rejection", "appeal"],
        2,
    ),
    action(ActionKind::Set, &["set", "schedule", "continue", "postpone", "refer"], &["continuance", "referral"], 1),
    action(
        ActionKind::Direct,
        &["direct", "instruct", "request", "initiate", "negotiate", "prepare"],
        &["direction"],
        1,
    ),
    action(ActionKind::Hear, &["conduct", "hold", "open the public hearing"], &["public hearing", "hearing"], 1),
    action(
        ActionKind::Consider,
        &["consider", "discuss", "review"],
        &["consideration", "discussion", "presentation", "workshop", "update"],
        0,
    ),
];

/// Words that begin an order without being one: `Staff recommends that the Council …`.
pub const ASKING: &str = concat!(
    r"\b(?:staff|department|commission|committee|board|manager|administrator|director|clerk|attorney|superintendent|chief|engineer|officer|division)s?'?s? (?:\w+ly |also |further |therefore )*recommends?\b",
    r"|\brecommend(?:s|ed)? (?:that|approval|adoption|denial|the (?:city |town )?(?:council|board|commission))\b|\bit is (?:hereby |therefore )?(?:recommended|requested)\b",
    r"|\b(?:is|are) (?:being )?(?:asked|requested) to\b|\brequest(?:s|ing|ed)? (?:that the|approval|authorization|council|board|commission|the (?:council|board|city council))\b",
    r"|\bseek(?:s|ing)? (?:approval|authorization|council|board|authority)\b|\bmove(?:s|d)? (?:to|that)\b|\bmotion (?:to|that)\b|\bi move\b",
    r"|\bthat the (?:city |town |county |village )?(?:council|board|commission|mayor)\b.{0,40}\b(?:adopt|approve|authorize|accept|award|deny|direct|appoint|conduct|introduce)\b",
);

/// Who feels it.
pub const AFFECTED: &str = concat!(
    r"\b(?:residents?|tenants?|renters?|homeowners?|property owners?|landlords?|households?|families|ratepayers?|taxpayers?|customers?|businesses|employees|workers|students?|seniors?",
    r"|children|youth|veterans|pedestrians|cyclists|drivers|motorists|riders|passengers|neighbou?rs|neighbou?rhoods?|patrons|visitors|parcels?|dwelling units?|housing units?|acres?",
    r"|low-income|unhoused|homeless|disadvantaged|public benefit|applicants?)\b|\blocated (?:at|on|in|near|along|adjacent|within)\b|\bserv(?:es?|ing) (?:the|approximately|over)\b",
);

/// What comes after.
pub const NEXT: &str = concat!(
    r"\bnext steps?\b|\b(?:second|final) reading\b|\bwill (?:return|come back|be brought back|be considered|be presented|be scheduled|take effect|become effective|go into effect|begin|commence|start|be completed|be issued|be made by)\b",
    r"|\bif (?:approved|adopted|the (?:council|board|commission) approves)\b|\bupon (?:approval|adoption)\b|\bfollowing (?:approval|adoption|council|board)\b|\bonce (?:approved|adopted)\b",
    r"|\b(?:is|are) (?:expected|anticipated|scheduled) to\b|\bscheduled for\b|\bat a future\b|\bfuture (?:public )?(?:hearing|meeting)\b|\beffective (?:date|on|upon|immediately)\b",
);

/// Money without an amount.
pub const NO_COST: &str = concat!(
    r"\bno (?:direct |additional |net |new |anticipated |immediate |significant )*(?:fiscal|financial|budget(?:ary)?|general fund|cost) (?:impact|effect|implications?|cost)s?\b",
    r"|\bno (?:additional |new |direct )?costs?\b|\bcost[- ]neutral\b|\b(?:does|will) not (?:have|result in) an?y? (?:fiscal|financial|budgetary)\b|\bno impact (?:on|to) the (?:general fund|budget)\b|^none\b",
    r"|\bsufficient fund(?:s|ing)\b|\bfunds? (?:is|are) (?:available|budgeted|included)\b|\bunbudgeted\b",
);

/// What makes an item weigh more, whatever it costs.
pub const GRAVE: &str = concat!(
    r"\b(?:ordinance|rezon(?:e|ing)|zone change|general plan|comprehensive plan|tax(?:es)?|bonds?|rate increase|fee schedule|eminent domain|condemnation|annexation|appeal|variance|emergency|moratorium",
    r"|layoffs?|labou?r agreement|settlement|demolition|eviction|rent (?:control|stabilization)|public hearing|budget|charter amendment|ballot measure|redistricting)\b",
);
