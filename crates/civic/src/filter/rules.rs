//! The rules for items, as a table: what each catches, and what is then done.
//!
//! Patterns are in lower case and see the title without its numbering ([`super::title::plain`]), those of the form
//! [`Form::Anywhere`] the title as it is. Ids never change their meaning: a rule that is no longer wanted goes, and its
//! id is not given to another.

use super::{Class, Treatment};
use Class::{Administrative, Ceremonial, Procedural};
use Form::{Anywhere, Exact, Short, Start};
use Treatment::{Brief, Skip};

/// How much of the title a pattern must cover.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// All of it.
    Exact,
    /// All of it but up to four words, or something behind a dash or colon.
    Short,
    /// Its beginning.
    Start,
    /// Any part of it.
    Anywhere,
}

#[derive(Debug)]
pub struct Rule {
    pub id: &'static str,
    pub class: Class,
    pub treatment: Treatment,
    pub form: Form,
    pub pattern: &'static str,
    /// The rule does not fit where this is found.
    pub unless: Option<&'static str>,
    /// It fits only what has neither documents nor a matter.
    pub only_bare: bool,
    /// Guards that do not hold against it.
    pub passes_by: &'static [&'static str],
    /// Continues "it …".
    pub says: &'static str,
}

impl Rule {
    const fn new(id: &'static str, class: Class, form: Form, pattern: &'static str, says: &'static str) -> Self {
        let (treatment, unless, only_bare, passes_by): (_, _, _, &[&str]) = (Skip, None, false, &[]);
        Self { id, class, treatment, form, pattern, unless, only_bare, passes_by, says }
    }

    const fn unless(mut self, pattern: &'static str) -> Self {
        self.unless = Some(pattern);
        self
    }

    const fn only_bare(mut self) -> Self {
        self.only_bare = true;
        self
    }

    const fn brief(mut self) -> Self {
        self.treatment = Brief;
        self
    }

    const fn passing_by(mut self, guards: &'static [&'static str]) -> Self {
        self.passes_by = guards;
        self
    }
}

/// The id of the rules for minutes.
pub const MINUTES: &str = "item.procedural.minutes";

/// A word of a meeting's name or day, with the space behind it.
pub const MEETING_WORD: &str = concat!(
    r"(?:(?:draft|unapproved|approved|revised|corrected|previous|prior|past|last|regular|special|action|summary|executive|closed|open|work",
    r"|study|session|sessions|workshop|meetings?|council|city|town|county|village|board|commission|committee|joint|annual|organizational",
    r"|reorganization|retreat|the|and|&|of|on|from|for|held|dated|education|trustees|directors|supervisors|commissioners|planning|zoning|adjourned|emergency",
    r"|january|february|march|april|may|june|july|august|september|october|november|december|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec",
    r"|monday|tuesday|wednesday|thursday|friday|saturday|sunday|\d{1,4}(?:st|nd|rd|th)?|\d{1,2}/\d{1,2}/\d{2,4}|\d{1,2}-\d{1,2}-\d{2,4}|_+|[ap]m|\d{1,2}:\d{2})[.,;]?(?:\s*[-–—]\s*|\s+|$))",
);

/// Fits by the heading above an item, so it stands outside the table.
pub const MINUTES_BY_SECTION: Rule = Rule::new(
    "item.procedural.minutes-by-section",
    Procedural,
    Exact,
    "",
    "names a meeting below a heading about minutes",
);

/// Fits what says several procedural things at once, so it stands outside the table.
pub const SEVERAL: Rule =
    Rule::new("item.procedural.several", Procedural, Exact, "", "only runs the meeting, in several ways");

/// In the order in which they are asked.
pub const ITEMS: &[Rule] = &[
    Rule::new(
        "item.procedural.call-to-order",
        Procedural,
        Short,
        r"(?:meeting )?call(?:ed|s)?(?: (?:the |this )?(?:meeting|session))? to order",
        "opens the meeting",
    )
    .unless(DECIDES),
    Rule::new(
        "item.procedural.opening",
        Procedural,
        Exact,
        concat!(
            r"opening(?: (?:formalities|ceremon(?:y|ies)|of (?:the )?(?:meeting|session)|items?|business|exercises?|procedures?))?",
            r"(?: (?:and|&) (?:public )?(?:comments?|communications?))?",
            r"|welcome(?: (?:and|&) introductions?| (?:to )?(?:all )?(?:guests|visitors))?|introductions",
            r"|preliminar(?:y|ies)(?: (?:matters|business|items))?|order of business|open(?:ing)? session",
        ),
        "opens the meeting",
    )
    .only_bare(),
    Rule::new(
        "item.procedural.roll-call",
        Procedural,
        Short,
        r"roll ?call|call(?:ing)? (?:of )?the roll|attendance|quorum(?: call| determination)?|(?:determin\w+|establish\w*|declar\w+|certif\w+) (?:of )?(?:a |the )?quorum",
        "tells who is present",
    )
    .unless(DECIDES),
    Rule::new(
        "item.procedural.invocation",
        Procedural,
        Short,
        r"invocation|moment of (?:silence|silent \w+|reflection)|silent (?:prayer|meditation)|(?:opening|closing) prayer|prayer(?: by\b| led\b)?|(?:land|territorial) acknowledge?ment|(?:community|school|community/school) reflections?",
        "is a prayer or a moment of silence",
    )
    .unless(DECIDES),
    Rule::new(
        "item.procedural.pledge",
        Procedural,
        Short,
        r"(?:the )?pledge of allegiance|flag salute|salute to (?:the|our) flag|presentation of (?:the )?colors|national anthem",
        "salutes the flag",
    )
    .unless(DECIDES),
    Rule::new("item.procedural.pledge-alone", Procedural, Exact, r"pledge|salute", "salutes the flag"),
    Rule::new(
        "item.procedural.agenda",
        Procedural,
        Exact,
        concat!(
            r"(?:(?:motion to )?(?:approv\w*|adopt\w*|accept\w*|review\w*|acknowledg\w*|confirm\w*|amend\w*|modif\w*|additions?|deletions?|changes?|revisions?|corrections?|adjustments?)",
            r"(?:,? ?(?:and|or|&|/|,) ?\w+)* (?:(?:to|of|in|from|for) )?(?:the )?(?:order of (?:the )?)?",
            r"(?:(?:regular|proposed|meeting|final|tentative|today's|council|board|commission|committee|printed|posted|published) )*agenda",
            r"|agenda (?:approval|adoption|review|changes|revisions?|additions|modifications|amendments|order)|order of (?:the )?agenda|setting (?:of )?the agenda)",
            r"(?: as \w+| order| (?:for|of) (?:the )?(?:meeting|[a-z]+ \d).{0,40}|\s*[-–—:(,].{0,60})?",
        ),
        "puts the agenda in order",
    ),
    Rule::new(
        "item.procedural.agenda-items",
        Procedural,
        Start,
        concat!(
            r"identify items (?:to|for)|(?:requests? to )?(?:remove|pull|removal of|pulling of) items? from (?:the )?(?:agenda|consent)",
            r"|requests? for items to be (?:continued|withdrawn|placed|removed|pulled)|(?:[\w']+ )?requests? to (?:calendar|place|add) (?:future )?(?:agenda )?items",
            r"|discussion and consideration of the (?:formal )?agenda$",
        ),
        "puts the agenda in order",
    ),
    Rule::new(
        MINUTES,
        Procedural,
        Exact,
        concat!(
            r"(?:(?:motion|request|recommendation) (?:to|for) )?(?:approv\w*|adopt\w*|accept\w*|review\w*|consider\w*|correct\w*|read\w*|ratif\w*|receiv\w*|certif\w*|releas\w*)",
            r"\b(?:[^.;$]{0,140}?[^\d\s])?\s+minutes(?:\s+(?:of|from|for|dated|as|and|on|held|approval)\b.*|\s*[-–—:(,/;].*)?",
        ),
        "is about minutes",
    )
    .unless(LENGTH_OF_TIME),
    Rule::new(
        "item.procedural.minutes-named",
        Procedural,
        Exact,
        concat!(
            r"(?:(?:draft|unapproved|approved|revised|corrected|previous|prior|past|last|regular|special|action|summary|executive|closed|open|work",
            r"|study|session|workshop|meeting|council|city|town|county|village|board|commission|committee|joint|annual|the",
            r"|january|february|march|april|may|june|july|august|september|october|november|december|\d{1,4}(?:st|nd|rd|th)?,?|\d{1,2}/\d{1,2}/\d{2,4}|[-–—])\s+)*",
            r"minutes(?: approval)?(?:\s+(?:of|from|for|dated|on)\b.*|\s*[-–—:(,/;].*)?",
        ),
        "is about minutes",
    )
    .unless(LENGTH_OF_TIME),
    Rule::new(
        "item.procedural.public-comment",
        Procedural,
        Exact,
        concat!(
            r"(?:(?:(?:general|initial|final|opening|closing|additional|non-?agenda|open|oral|written|virtual|hybrid) )*public (?:comments?|participation|communications?|speakers?|expression|appearances?)",
            r"|(?:citizens?'?|audience|visitors?'?|residents?'?|community|guests?'?)(?:'s)? (?:comments?|participation|communications?|appearances?|to be heard)",
            r"|(?:oral|audience|public|citizen) communications?|delegations?",
            r"|(?:general )?(?:comments?|remarks) (?:from|by|of) (?:the |members of the )*(?:public|audience|citizens|residents|visitors|floor))",
            r"(?: (?:period|session|time|section|portion))?",
            r"(?: (?:on|for|regarding|about) (?:(?:the|any|all|non-?agenda|agenda|closed session|consent|items?|matters?|subjects?|topics?|not|listed)\b).*| (?:from|by) (?:the )?(?:public|audience|floor)|\s*[-–—:(,/&;].{0,160})?",
        ),
        "lets the public speak",
    )
    .unless(DECIDES),
    Rule::new(
        "item.procedural.public-forum",
        Procedural,
        Exact,
        r"(?:public|open|citizens?'?|community|town|open public) (?:forum|input|testimony|discussion|address)|non-?agenda items|unscheduled (?:speakers|matters)|speakers",
        "lets the public speak",
    )
    .only_bare(),
    Rule::new(
        "item.procedural.requests-to-speak",
        Procedural,
        Start,
        r"requests? (?:to|for permission to) (?:address|speak)|(?:hearing|recognition) of (?:citizens|visitors|the public|delegations|the audience)|(?:persons?|citizens?|anyone) (?:wishing|desiring) to (?:address|speak)",
        "lets the public speak",
    )
    .unless(DECIDES),
    Rule::new(
        "item.procedural.session",
        Procedural,
        Exact,
        concat!(
            r"(?:(?:motion|vote) to )?(?:recess(?:ed|es)?|convene[sd]?|reconvene[sd]?|enter|return|resume|go|move|exit)",
            r"(?: (?:in|to|into|from|out|of|for|the|a|an|regular|open|closed|executive|special|public|session|meeting|lunch|dinner|break|council|board))*",
            r"|(?:lunch|dinner)(?: (?:break|recess))?|break",
        ),
        "opens or interrupts a session",
    ),
    Rule::new(
        "item.procedural.closed-session",
        Procedural,
        Exact,
        r"(?:closed|executive)(?: (?:or|and|/|&) (?:closed|executive))? sessions?(?: announcements?)?",
        "is the heading of a closed session",
    )
    .only_bare(),
    Rule::new(
        "item.procedural.adjournment",
        Procedural,
        Exact,
        r"(?:motion to )?adjo?u?rn(?:ment|ed|s)?(?: (?:the )?(?:meeting|session)| (?:of|at|to|in|until|from|by) .{0,120}| sine die| \d.{0,20}|\s*[-–—:(,/].{0,120})?",
        "closes the meeting",
    )
    .unless(DECIDES),
    Rule::new(
        "item.procedural.next-meeting",
        Procedural,
        Short,
        r"(?:(?:announcements?|dates?|schedul\w+|confirm\w*|set\w*|time fixed|time|discussion)(?: and time)?(?: (?:of|for))? )?(?:the )?(?:date (?:and time )?(?:of|for) )?(?:the )?(?:next|upcoming|future) (?:(?:regular|scheduled|special|council|board) )*(?:meetings?|meeting dates?|agenda items?|agendas?)",
        "says when the next meeting is",
    )
    .unless(DECIDES),
    Rule::new(
        "item.procedural.nothing",
        Procedural,
        Anywhere,
        r"[(\[](?:none|no (?:reports?|items?|business|action|updates?|minutes)(?: at this time)?)[)\]]\s*$|\s[-–—:]\s*none[.\s]*$|^(?:none(?: (?:submitted|at this time|scheduled))?|n/a|no reports?|no items?|reserved|(?:this page )?intentionally left blank)[.\s]*$",
        "says that there is nothing",
    )
    .only_bare()
    .passing_by(&["guard.act", "guard.number", "guard.rules", "guard.finance", "guard.emergency", "guard.legal", "guard.works"]),
    Rule::new(
        "item.procedural.heading",
        Procedural,
        Exact,
        concat!(
            r"(?:old|new|unfinished|other|continued|miscellaneous|additional|general|regular)(?: (?:and|&|/|or) (?:old|new|unfinished|other))? business",
            r"|announcements?|reports?|presentations?|public hearings?|correspondence|discussion(?: items?)?|action items?|information(?:al)? items?|business items?|filed items|agenda items|items for approval|(?:regular|closed session|non-?consent|scheduled|time certain) items?(?: for (?:board|council|commission) action)?|non-?consent|consideration",
            r"|(?:(?:standing|special|council|board|staff|officers?'?|members?|liaison|management|other|oral|written) )*(?:committee |subcommittee )?reports(?: (?:and|&) (?:presentations|information))?|reports of (?:the )?(?:commissioners|members|trustees|directors|council|committees)|(?:regular|business|discussion|action) (?:agenda|calendar)",
            r"|(?:written |oral |council |board )?communications?(?: (?:and|&|/) (?:petitions|correspondence|announcements|reports))?",
            r"|petitions(?: (?:and|&) communications)?",
        ),
        "is a heading without anything of its own",
    )
    .only_bare(),
    Rule::new(
        "item.procedural.members-speak",
        Procedural,
        Exact,
        concat!(
            r"(?:(?:city |town |county |village |vice )?(?:council|council ?members?|commission|commissioners?|board|board ?members?|mayor|members?|trustees?|directors?|supervisors?|staff|manager|chair\w*|president|attorney|clerk|executive director|superintendent|administrator)(?:'s|s'|')?(?:,? (?:and|&|/) )?)+",
            r" ?(?:comments?|remarks|announcements?|closing comments?)(?: (?:and|&|/) (?:comments?|remarks|announcements?))?(?:,? (?:and )?reports on activities.{0,30})?",
            r"|(?:comments?|remarks|announcements?) (?:from|by|of) (?:the )?(?:city |town |county )?(?:council|council ?members?|commissioners?|board|mayor|members?|trustees?|staff|manager|chair\w*|president)(?: members?)?",
        ),
        "lets members speak",
    )
    .only_bare(),
    Rule::new("item.ceremonial.proclamation", Ceremonial, Anywhere, r"\bproclamations?\b|\bproclaim(?:ing|s)?\b.*\b(?:day|week|month|year)\b", "is a proclamation"),
    Rule::new("item.ceremonial.commendation", Ceremonial, Anywhere, r"\bcommendations?\b", "commends somebody").unless(r"\bcomplaints?\b"),
    Rule::new(
        "item.ceremonial.recognition",
        Ceremonial,
        Start,
        r"(?:(?:special|employee|student|community|staff|service|awards?|presentations?|and|&|of) )*recognitions?|acknowledge?ments?|expressions? of (?:appreciation|sympathy|thanks)",
        "recognises somebody",
    )
    .unless(r"\b(?:facial|voice|speech|image|plate|revenue|sovereign\w*|association|exclusive|territorial)\b"),
    Rule::new(
        "item.ceremonial.award",
        Ceremonial,
        Anywhere,
        r"\b(?:employee|teacher|officer|student|volunteer|citizen|firefighter)s? of the (?:month|quarter|year)\b|\bcertificates? of (?:appreciation|achievement|recognition|merit)\b|\bemeritus certificates?\b|\bservice (?:awards?|pins?)\b",
        "honours somebody",
    ),
    Rule::new("item.ceremonial.oath", Ceremonial, Anywhere, r"\boaths? of office\b|\bswearing[ -]in\b", "swears somebody in"),
    Rule::new(
        "item.ceremonial.ceremony",
        Ceremonial,
        Anywhere,
        r"\bceremonial\b|\bbenediction\b|\bin memoriam\b|\bhappy birthday\b|\bbirthday (?:wishes|greetings|recognition|celebration)\b|\btribute to (?:the )?late\b|\bon (?:his|her|their) retirement\b",
        "is a ceremony",
    ),
    Rule::new("item.ceremonial.remarks", Ceremonial, Exact, r"(?:opening|welcoming|closing) remarks?", "is a few words"),
    Rule::new("item.ceremonial.congratulations", Ceremonial, Start, r"congratulations?(?: (?:to|extended|for))?|tribute to|honoring", "honours somebody"),
    Rule::new(
        "item.administrative.liquor-license",
        Administrative,
        Anywhere,
        r"\b(?:liquor|beer|wine|alcohol\w*|tavern|package goods)\b.{0,60}\blicen[cs]es?\b|\blicen[cs]es?\b.{0,30}\b(?:liquor|beer|wine|alcohol\w*)\b",
        "is a single licence to sell alcohol",
    )
    .unless(r"\b(?:revo\w+|suspen\w+|den(?:y|ial|ied)|amend\w*|chang\w+|increas\w+|limit\w*|hearing|prohibit\w*|dry)\b"),
    Rule::new(
        "item.administrative.sign-permit",
        Administrative,
        Anywhere,
        r"\bpermits? for (?:the )?sign\w*|\bsign ?board permits?\b|\b(?:sign|awning) permits?\b",
        "is a single permit for a sign",
    )
    .unless(r"\b(?:revo\w+|den(?:y|ial|ied)|amend\w*)\b"),
    Rule::new(
        "item.administrative.appointment",
        Administrative,
        Anywhere,
        r"\b(?:re-?)?appoint(?:ments?|ing|s|ed|ees?)?\b|\bnominat(?:ions?|es?|ing|ed)\b|\bnominees?\b|\bconfirmation of\b",
        "fills an office",
    )
    .brief(),
    Rule::new("item.administrative.fee-waiver", Administrative, Anywhere, r"\bfee waivers?\b|\bwaivers? of fees?\b", "waives a fee")
        .brief()
        .passing_by(&["guard.finance"]),
    Rule::new("item.administrative.small-claims", Administrative, Anywhere, r"\bsmall claims?\b", "pays small claims")
        .brief()
        .passing_by(&["guard.finance"]),
];

/// What is decided behind such a beginning is no procedure: "Roll call: approval of the sale".
const DECIDES: &str = r"\b(?:(?:approv|authoriz|award|adopt|grant|sponsor|sell|den(?:y|ial))\w*|hire|hiring|sales?)\b";
/// "Three minutes" are not the minutes of a meeting.
const LENGTH_OF_TIME: &str =
    r"\b(?:\d+|one|two|three|four|five|six|ten|fifteen|twenty|thirty|forty|sixty)[ -]minutes?\b";
