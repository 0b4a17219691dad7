use super::*;

const AGENDA: &str = "BROOKFIELD CITY COUNCIL
Regular meeting, Tuesday, March 3, 2026, 6:30 PM
Council Chamber, Second Floor,
120 Mill Street, Brookfield, OH 44100

This is a hybrid meeting. Join by computer: https://brookfield.zoomgov.com/j/16027719620 (Passcode: 48k2x9).
To join by telephone dial 1-669-254-5252 or (833) 568-8864 and enter Meeting ID: 160 2771 9620 when asked.
Written comments may be sent to comments@brookfield.example by 4:00 PM the day of the meeting.
Requests to speak: sign up at https://brookfield.example/speak.
Watch on https://www.youtube.com/@brookfield or on Cable TV Channel 24. Fax: (330) 555-0190.
For questions call the City Clerk at (330) 555-0142 or write to clerk@brookfield.example.

CALL TO ORDER
1. Purchase of a pump
The applicant, reachable at sales@pumps.example or (216) 555-0177, offers a pump.
ADJOURNMENT
Meetings are also shown on https://vimeo.com/brookfield.
";

#[test]
fn an_agenda_tells_how_to_take_part() {
    let found = Participation::of_text(AGENDA);
    let addresses: Vec<(&str, Purpose)> =
        found.emails.iter().map(|email| (email.address.as_str(), email.purpose)).collect();
    assert_eq!(
        addresses,
        [("comments@brookfield.example", Purpose::WrittenComments), ("clerk@brookfield.example", Purpose::CityClerk)]
    );
    assert_eq!(found.email.as_deref(), Some("comments@brookfield.example"));
    assert_eq!(found.phone.as_deref(), Some("+13305550142"));
    assert_eq!(found.dial_in, ["+16692545252", "+18335688864"]);
    assert_eq!(found.virtual_url.as_deref(), Some("https://brookfield.zoomgov.com/j/16027719620"));
    assert_eq!(found.meeting_id.as_deref(), Some("16027719620"));
    assert_eq!(found.passcode.as_deref(), Some("48k2x9"));
    assert_eq!((found.is_hybrid, found.is_virtual_only), (Some(true), Some(false)));
    let streams: Vec<(&str, Option<&str>)> =
        found.streaming_urls.iter().map(|stream| (stream.platform.as_str(), stream.channel.as_deref())).collect();
    assert_eq!(streams, [("YouTube", None), ("Vimeo", None), ("Cable TV", Some("24"))]);
    assert_eq!(found.public_comment_deadline.as_deref(), Some("4:00 PM the day of the meeting"));
    assert_eq!(found.sign_up_url.as_deref(), Some("https://brookfield.example/speak"));
    assert_eq!(
        found.physical_address.as_deref(),
        Some("Council Chamber, Second Floor, 120 Mill Street, Brookfield, OH 44100")
    );
}

#[test]
fn a_link_alone_does_not_make_a_meeting_virtual() {
    let kind = |text: &str| {
        let found = Participation::of_text(text);
        (found.is_hybrid, found.is_virtual_only)
    };
    assert_eq!(kind("Join at https://zoom.us/j/123456789"), (None, None));
    assert_eq!(
        kind("The meeting will be held via videoconference. https://zoom.us/j/123456789"),
        (Some(false), Some(true))
    );
    assert_eq!(kind("Attend in person or watch at https://zoom.us/j/123456789"), (Some(true), Some(false)));
}

#[test]
fn hosts_are_compared_as_names() {
    let url = |text: &str| Participation::of_text(text).virtual_url;
    assert_eq!(url("See https://notzoom.us/j/123456789 and https://zoom.us.example.org/j/1"), None);
    assert_eq!(
        url("See https://zoom.us/download, then https://us02web.zoom.us/j/123456789)."),
        Some("https://us02web.zoom.us/j/123456789".into())
    );
}

#[test]
fn what_is_attached_is_not_asked() {
    let page = |number: usize, text: &str| {
        let mut page = Page::converted(number);
        for paragraph in text.split("\n\n") {
            let text = bindery_reader::model::Inlines::plain(paragraph);
            page.blocks.push(bindery_reader::Block::body(bindery_reader::BlockKind::Paragraph { text }));
        }
        page
    };
    let pages = [
        page(1, "Brookfield council\n\nWrite to clerk@brookfield.example\n\nCALL TO ORDER\n\n1. Purchase of a pump"),
        page(2, "STAFF REPORT\n\nThe consultant is at sales@pumps.example, public comment: none."),
    ];
    let found = Participation::of_pages(&pages);
    assert_eq!((found.email.as_deref(), found.emails.len()), (Some("clerk@brookfield.example"), 0));
}

#[test]
fn nothing_is_erased_by_nothing() {
    let mut known = Participation::of_text(AGENDA);
    let before = known.clone();
    known.absorb(Participation::default());
    assert_eq!(known, before);
    known
        .absorb(Participation::of_text("Call the clerk at (330) 555-0101. Public comment: council@brookfield.example"));
    assert_eq!(known.phone.as_deref(), Some("+13305550101"));
    assert_eq!(known.emails.len(), 3);
    assert_eq!(known.virtual_url, before.virtual_url);

    let only = known.only_of_meeting();
    assert_eq!((only.email, only.phone, only.physical_address), (None, None, None));
    assert_eq!((only.meeting_id, only.virtual_url), (before.meeting_id, before.virtual_url));
}
