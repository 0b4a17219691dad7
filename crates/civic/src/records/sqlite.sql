-- City councils. Columns are what rows are found by; the whole row is JSON, in data.
-- Cities, counties, districts, and how visits to them have gone.
CREATE TABLE civic_jurisdiction (
    city_key     TEXT NOT NULL,
    name         TEXT NOT NULL,
    state        TEXT NOT NULL,
    vendor       TEXT NOT NULL,
    active       INTEGER NOT NULL,
    failing      INTEGER NOT NULL,
    silent       INTEGER NOT NULL,
    yielded      INTEGER NOT NULL,
    next_sync_at INTEGER,
    data         TEXT NOT NULL,
    PRIMARY KEY (city_key)
) STRICT;
CREATE UNIQUE INDEX civic_jurisdiction_name ON civic_jurisdiction (name, state);
CREATE INDEX civic_jurisdiction_due ON civic_jurisdiction (next_sync_at);

CREATE TABLE civic_zipcode (
    zipcode  TEXT NOT NULL,
    city_key TEXT NOT NULL,
    data     TEXT NOT NULL,
    PRIMARY KEY (zipcode, city_key)
) STRICT, WITHOUT ROWID;
CREATE INDEX civic_zipcode_of ON civic_zipcode (city_key);

-- Visits, each with what came of it.
CREATE TABLE civic_sync_run (
    id         INTEGER NOT NULL,
    city_key   TEXT NOT NULL,
    status     TEXT NOT NULL,
    started_at INTEGER,
    data       TEXT NOT NULL,
    PRIMARY KEY (id)
) STRICT;
CREATE INDEX civic_sync_run_of ON civic_sync_run (city_key, id);

-- What pages looked like at the last visit.
CREATE TABLE civic_page (
    city_key TEXT NOT NULL,
    url      TEXT NOT NULL,
    data     TEXT NOT NULL,
    PRIMARY KEY (city_key, url)
) STRICT;

-- Cities that people want.
CREATE TABLE civic_request (
    city_key TEXT NOT NULL,
    status   TEXT NOT NULL,
    data     TEXT NOT NULL,
    PRIMARY KEY (city_key)
) STRICT, WITHOUT ROWID;

-- Meetings. Any change of one, or of its parts, makes its revision grow.
CREATE TABLE civic_meeting (
    id         TEXT NOT NULL,
    city_key   TEXT NOT NULL,
    vendor     TEXT NOT NULL,
    vendor_id  TEXT NOT NULL,
    starts_at  INTEGER,
    status     TEXT,
    processing TEXT,
    summarised INTEGER NOT NULL,
    removed    INTEGER NOT NULL,
    revision   INTEGER NOT NULL,
    data       TEXT NOT NULL,
    PRIMARY KEY (id)
) STRICT;
CREATE UNIQUE INDEX civic_meeting_identity ON civic_meeting (city_key, vendor_id, vendor);
CREATE INDEX civic_meeting_of ON civic_meeting (city_key, starts_at);
CREATE INDEX civic_meeting_time ON civic_meeting (starts_at);

-- Items of agendas.
CREATE TABLE civic_item (
    id         TEXT NOT NULL,
    meeting_id TEXT NOT NULL,
    sequence   INTEGER NOT NULL,
    matter_id  TEXT,
    summarised INTEGER NOT NULL,
    removed    INTEGER NOT NULL,
    data       TEXT NOT NULL,
    PRIMARY KEY (id)
) STRICT;
CREATE INDEX civic_item_of ON civic_item (meeting_id, sequence);
CREATE INDEX civic_item_matter ON civic_item (matter_id) WHERE matter_id IS NOT NULL;

-- What items became after their summary was made.
CREATE TABLE civic_item_revision (
    item_id    TEXT NOT NULL,
    revision   INTEGER NOT NULL,
    meeting_id TEXT NOT NULL,
    data       TEXT NOT NULL,
    PRIMARY KEY (item_id, revision)
) STRICT;
CREATE INDEX civic_item_revision_of ON civic_item_revision (meeting_id);

-- The history of meetings.
CREATE TABLE civic_change (
    meeting_id TEXT NOT NULL,
    revision   INTEGER NOT NULL,
    ordinal    INTEGER NOT NULL,
    city_key   TEXT NOT NULL,
    at         INTEGER NOT NULL,
    data       TEXT NOT NULL,
    PRIMARY KEY (meeting_id, revision, ordinal)
) STRICT;
CREATE INDEX civic_change_of ON civic_change (city_key, at);
CREATE INDEX civic_change_time ON civic_change (at);

-- Meetings that were seen and not taken.
CREATE TABLE civic_skipped (
    city_key  TEXT NOT NULL,
    vendor    TEXT NOT NULL,
    vendor_id TEXT NOT NULL,
    data      TEXT NOT NULL,
    PRIMARY KEY (city_key, vendor, vendor_id)
) STRICT, WITHOUT ROWID;

-- Matters, over all their appearances.
CREATE TABLE civic_matter (
    id          TEXT NOT NULL,
    city_key    TEXT NOT NULL,
    matter_file TEXT,
    last_seen   INTEGER,
    data        TEXT NOT NULL,
    PRIMARY KEY (id)
) STRICT;
CREATE INDEX civic_matter_of ON civic_matter (city_key, last_seen);

CREATE TABLE civic_appearance (
    matter_id  TEXT NOT NULL,
    meeting_id TEXT NOT NULL,
    item_id    TEXT NOT NULL,
    data       TEXT NOT NULL,
    PRIMARY KEY (matter_id, meeting_id, item_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX civic_appearance_of ON civic_appearance (meeting_id);

CREATE TABLE civic_sponsorship (
    matter_id TEXT NOT NULL,
    person_id TEXT NOT NULL,
    data      TEXT NOT NULL,
    PRIMARY KEY (matter_id, person_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX civic_sponsorship_by ON civic_sponsorship (person_id);

-- Votes with their ballots; the ballots once more, by person.
CREATE TABLE civic_vote_event (
    id         TEXT NOT NULL,
    meeting_id TEXT NOT NULL,
    matter_id  TEXT,
    data       TEXT NOT NULL,
    PRIMARY KEY (id)
) STRICT;
CREATE INDEX civic_vote_event_of ON civic_vote_event (meeting_id);
CREATE INDEX civic_vote_event_on ON civic_vote_event (matter_id) WHERE matter_id IS NOT NULL;

CREATE TABLE civic_ballot (
    vote_event_id TEXT NOT NULL,
    person_id     TEXT NOT NULL,
    data          TEXT NOT NULL,
    PRIMARY KEY (vote_event_id, person_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX civic_ballot_by ON civic_ballot (person_id);

CREATE TABLE civic_committee (
    id       TEXT NOT NULL,
    city_key TEXT NOT NULL,
    data     TEXT NOT NULL,
    PRIMARY KEY (id)
) STRICT, WITHOUT ROWID;
CREATE INDEX civic_committee_of ON civic_committee (city_key);

CREATE TABLE civic_person (
    id       TEXT NOT NULL,
    city_key TEXT NOT NULL,
    data     TEXT NOT NULL,
    PRIMARY KEY (id)
) STRICT, WITHOUT ROWID;
CREATE INDEX civic_person_of ON civic_person (city_key);

-- What people want to be told.
CREATE TABLE civic_alert (
    id     TEXT NOT NULL,
    owner  TEXT NOT NULL,
    active INTEGER NOT NULL,
    data   TEXT NOT NULL,
    PRIMARY KEY (id)
) STRICT, WITHOUT ROWID;
CREATE INDEX civic_alert_by ON civic_alert (owner);

CREATE TABLE civic_watch (
    owner       TEXT NOT NULL,
    entity_type TEXT NOT NULL,
    entity_id   TEXT NOT NULL,
    data        TEXT NOT NULL,
    PRIMARY KEY (owner, entity_type, entity_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX civic_watch_of ON civic_watch (entity_type, entity_id);

-- Messages that wait to be sent.
CREATE TABLE civic_notification (
    key    TEXT NOT NULL,
    due_at INTEGER,
    data   TEXT NOT NULL,
    PRIMARY KEY (key)
) STRICT;
CREATE INDEX civic_notification_due ON civic_notification (due_at) WHERE due_at IS NOT NULL;

-- Documents of agendas, by their address: what was last fetched from there, or why nothing was.
CREATE TABLE civic_document (
    url            TEXT NOT NULL,
    content_sha256 TEXT,
    data           TEXT NOT NULL,
    PRIMARY KEY (url)
) STRICT, WITHOUT ROWID;
CREATE INDEX civic_document_of ON civic_document (content_sha256) WHERE content_sha256 IS NOT NULL;

-- What a file says, by its content and by the rules that it was read by.
CREATE TABLE civic_text (
    content_sha256 TEXT NOT NULL,
    reader         TEXT NOT NULL,
    data           TEXT NOT NULL,
    PRIMARY KEY (content_sha256, reader)
) STRICT, WITHOUT ROWID;

-- Words for topics that mean none that is known, with how often they came.
CREATE TABLE civic_unknown_topic (
    city_key TEXT NOT NULL,
    topic    TEXT NOT NULL,
    data     TEXT NOT NULL,
    PRIMARY KEY (city_key, topic)
) STRICT, WITHOUT ROWID;
