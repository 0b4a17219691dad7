//! What can be done where something of a council is not there, or cannot be said so.

use bindery_app::councils::CouncilRefused;

/// What can be done instead.
pub(crate) fn hint(refused: &CouncilRefused) -> Option<String> {
    Some(match refused {
        CouncilRefused::Invalid(_) => return None,
        CouncilRefused::UnknownCity { city_key, others } if others.is_empty() => {
            format!("no city of {} is stored", city_key.state())
        }
        CouncilRefused::UnknownCity { city_key, others } => {
            format!("stored in {} are {}", city_key.state(), others.join(", "))
        }
        CouncilRefused::NotFollowed { .. } => {
            "`bindery civic city list` lists those that are, `bindery civic city add` adds one".to_owned()
        }
        CouncilRefused::WrongId { .. } => {
            "`bindery civic meetings BANANA` lists meetings, `bindery civic show MEETING` \
                                           their items and matters"
                .to_owned()
        }
        CouncilRefused::ItemForMeeting { meeting, .. } => format!("its meeting is {meeting}"),
        CouncilRefused::Unknown { id, .. } => {
            let city = id.split('_').next().unwrap_or_default();
            format!("`bindery civic meetings {city}` lists the meetings of {city}")
        }
        CouncilRefused::UnknownPerson { id, known, .. } if known.is_empty() => {
            format!("none of {} is stored", id.split('_').next().unwrap_or_default())
        }
        CouncilRefused::UnknownPerson { known, .. } | CouncilRefused::UnknownTopic { known, .. } => {
            format!("known are {}", known.join(", "))
        }
        CouncilRefused::UnknownNumber { .. } => {
            "numbers are compared as the city writes them, e.g. \"ORD 2026-7\"".to_owned()
        }
        CouncilRefused::WrongEntity { .. } => {
            "`bindery civic show MEETING --json` shows the ids of a meeting's matters and body".to_owned()
        }
        CouncilRefused::AlertThere { .. } => "--replace stores this one in its place".to_owned(),
        CouncilRefused::UnknownAlert { .. } => "`bindery civic alert list` lists them".to_owned(),
        CouncilRefused::Contended => "try again".to_owned(),
        CouncilRefused::UnknownJob { .. } => "`bindery civic queue list` lists them".to_owned(),
    })
}
