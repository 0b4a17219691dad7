-- City councils. Columns are what rows are found by; the whole row is JSON, in data.
-- Cities, counties, districts, and how visits to them have gone.
CREATE TABLE civic_jurisdiction (
    city_key     text COLLATE "C" NOT NULL,
    name         text COLLATE "C" NOT NULL,
    state        text COLLATE "C" NOT NULL,
    vendor       text COLLATE "C" NOT NULL,
    active       bigint NOT NULL,
    failing      bigint NOT NULL,
    silent       bigint NOT NULL,
    yielded      bigint NOT NULL,
    next_sync_at bigint,
    data         text COLLATE "C" NOT NULL,
    PRIMARY KEY (city_key)
);
CREATE UNIQUE INDEX civic_jurisdiction_name ON civic_jurisdiction (name, state);
CREATE INDEX civic_jurisdiction_due ON civic_jurisdiction (next_sync_at);

CREATE TABLE civic_zipcode (
    zipcode  text COLLATE "C" NOT NULL,
    city_key text COLLATE "C" NOT NULL,
    data     text COLLATE "C" NOT NULL,
    PRIMARY KEY (zipcode, city_key)
);
CREATE INDEX civic_zipcode_of ON civic_zipcode (city_key);

-- Visits, each with what came of it.
CREATE TABLE civic_sync_run (
    id         bigint NOT NULL,
    city_key   text COLLATE "C" NOT NULL,
    status     text COLLATE "C" NOT NULL,
    started_at bigint,
    data       text COLLATE "C" NOT NULL,
    PRIMARY KEY (id)
);
CREATE INDEX civic_sync_run_of ON civic_sync_run (city_key, id);

-- What pages looked like at the last visit.
CREATE TABLE civic_page (
    city_key text COLLATE "C" NOT NULL,
    url      text COLLATE "C" NOT NULL,
    data     text COLLATE "C" NOT NULL,
    PRIMARY KEY (city_key, url)
);

-- Cities that people want.
CREATE TABLE civic_request (
    city_key text COLLATE "C" NOT NULL,
    status   text COLLATE "C" NOT NULL,
    data     text COLLATE "C" NOT NULL,
    PRIMARY KEY (city_key)
);

-- Meetings. Any change of one, or of its parts, makes its revision grow.
CREATE TABLE civic_meeting (
    id         text COLLATE "C" NOT NULL,
    city_key   text COLLATE "C" NOT NULL,
    vendor     text COLLATE "C" NOT NULL,
    vendor_id  text COLLATE "C" NOT NULL,
    starts_at  bigint,
    status     text COLLATE "C",
    processing text COLLATE "C",
    summarised bigint NOT NULL,
    removed    bigint NOT NULL,
    revision   bigint NOT NULL,
    data       text COLLATE "C" NOT NULL,
    PRIMARY KEY (id)
);
CREATE UNIQUE INDEX civic_meeting_identity ON civic_meeting (city_key, vendor_id, vendor);
CREATE INDEX civic_meeting_of ON civic_meeting (city_key, starts_at);
CREATE INDEX civic_meeting_time ON civic_meeting (starts_at);

-- Items of agendas.
CREATE TABLE civic_item (
    id         text COLLATE "C" NOT NULL,
    meeting_id text COLLATE "C" NOT NULL,
    sequence   bigint NOT NULL,
    matter_id  text COLLATE "C",
    summarised bigint NOT NULL,
    removed    bigint NOT NULL,
    data       text COLLATE "C" NOT NULL,
    PRIMARY KEY (id)
);
CREATE INDEX civic_item_of ON civic_item (meeting_id, sequence);
CREATE INDEX civic_item_matter ON civic_item (matter_id) WHERE matter_id IS NOT NULL;

-- What items became after their summary was made.
CREATE TABLE civic_item_revision (
    item_id    text COLLATE "C" NOT NULL,
    revision   bigint NOT NULL,
    meeting_id text COLLATE "C" NOT NULL,
    data       text COLLATE "C" NOT NULL,
    PRIMARY KEY (item_id, revision)
);
CREATE INDEX civic_item_revision_of ON civic_item_revision (meeting_id);

-- The history of meetings.
CREATE TABLE civic_change (
    meeting_id text COLLATE "C" NOT NULL,
    revision   bigint NOT NULL,
    ordinal    bigint NOT NULL,
    city_key   text COLLATE "C" NOT NULL,
    at         bigint NOT NULL,
    data       text COLLATE "C" NOT NULL,
    PRIMARY KEY (meeting_id, revision, ordinal)
);
CREATE INDEX civic_change_of ON civic_change (city_key, at);
CREATE INDEX civic_change_time ON civic_change (at);

-- Meetings that were seen and not taken.
CREATE TABLE civic_skipped (
    city_key  text COLLATE "C" NOT NULL,
    vendor    text COLLATE "C" NOT NULL,
    vendor_id text COLLATE "C" NOT NULL,
    data      text COLLATE "C" NOT NULL,
    PRIMARY KEY (city_key, vendor, vendor_id)
);

-- Matters, over all their appearances.
CREATE TABLE civic_matter (
    id          text COLLATE "C" NOT NULL,
    city_key    text COLLATE "C" NOT NULL,
    matter_file text COLLATE "C",
    last_seen   bigint,
    data        text COLLATE "C" NOT NULL,
    PRIMARY KEY (id)
);
CREATE INDEX civic_matter_of ON civic_matter (city_key, last_seen);

CREATE TABLE civic_appearance (
    matter_id  text COLLATE "C" NOT NULL,
    meeting_id text COLLATE "C" NOT NULL,
    item_id    text COLLATE "C" NOT NULL,
    data       text COLLATE "C" NOT NULL,
    PRIMARY KEY (matter_id, meeting_id, item_id)
);
CREATE INDEX civic_appearance_of ON civic_appearance (meeting_id);

CREATE TABLE civic_sponsorship (
    matter_id text COLLATE "C" NOT NULL,
    person_id text COLLATE "C" NOT NULL,
    data      text COLLATE "C" NOT NULL,
    PRIMARY KEY (matter_id, person_id)
);
CREATE INDEX civic_sponsorship_by ON civic_sponsorship (person_id);

-- Votes with their ballots; the ballots once more, by person.
CREATE TABLE civic_vote_event (
    id         text COLLATE "C" NOT NULL,
    meeting_id text COLLATE "C" NOT NULL,
    matter_id  text COLLATE "C",
    data       text COLLATE "C" NOT NULL,
    PRIMARY KEY (id)
);
CREATE INDEX civic_vote_event_of ON civic_vote_event (meeting_id);
CREATE INDEX civic_vote_event_on ON civic_vote_event (matter_id) WHERE matter_id IS NOT NULL;

CREATE TABLE civic_ballot (
    vote_event_id text COLLATE "C" NOT NULL,
    person_id     text COLLATE "C" NOT NULL,
    data          text COLLATE "C" NOT NULL,
    PRIMARY KEY (vote_event_id, person_id)
);
CREATE INDEX civic_ballot_by ON civic_ballot (person_id);

CREATE TABLE civic_committee (
    id       text COLLATE "C" NOT NULL,
    city_key text COLLATE "C" NOT NULL,
    data     text COLLATE "C" NOT NULL,
    PRIMARY KEY (id)
);
CREATE INDEX civic_committee_of ON civic_committee (city_key);

CREATE TABLE civic_person (
    id       text COLLATE "C" NOT NULL,
    city_key text COLLATE "C" NOT NULL,
    data     text COLLATE "C" NOT NULL,
    PRIMARY KEY (id)
);
CREATE INDEX civic_person_of ON civic_person (city_key);

-- What people want to be told.
CREATE TABLE civic_alert (
    id     text COLLATE "C" NOT NULL,
    owner  text COLLATE "C" NOT NULL,
    active bigint NOT NULL,
    data   text COLLATE "C" NOT NULL,
    PRIMARY KEY (id)
);
CREATE INDEX civic_alert_by ON civic_alert (owner);

CREATE TABLE civic_watch (
    owner       text COLLATE "C" NOT NULL,
    entity_type text COLLATE "C" NOT NULL,
    entity_id   text COLLATE "C" NOT NULL,
    data        text COLLATE "C" NOT NULL,
    PRIMARY KEY (owner, entity_type, entity_id)
);
CREATE INDEX civic_watch_of ON civic_watch (entity_type, entity_id);

-- Messages that wait to be sent.
CREATE TABLE civic_notification (
    key    text COLLATE "C" NOT NULL,
    due_at bigint,
    data   text COLLATE "C" NOT NULL,
    PRIMARY KEY (key)
);
CREATE INDEX civic_notification_due ON civic_notification (due_at) WHERE due_at IS NOT NULL;

-- Documents of agendas, by their address: what was last fetched from there, or why nothing was.
CREATE TABLE civic_document (
    url            text COLLATE "C" NOT NULL,
    content_sha256 text COLLATE "C",
    data           text COLLATE "C" NOT NULL,
    PRIMARY KEY (url)
);
CREATE INDEX civic_document_of ON civic_document (content_sha256) WHERE content_sha256 IS NOT NULL;

-- What a file says, by its content and by the rules that it was read by.
CREATE TABLE civic_text (
    content_sha256 text COLLATE "C" NOT NULL,
    reader         text COLLATE "C" NOT NULL,
    data           text COLLATE "C" NOT NULL,
    PRIMARY KEY (content_sha256, reader)
);

-- Words for topics that mean none that is known, with how often they came.
CREATE TABLE civic_unknown_topic (
    city_key text COLLATE "C" NOT NULL,
    topic    text COLLATE "C" NOT NULL,
    data     text COLLATE "C" NOT NULL,
    PRIMARY KEY (city_key, topic)
);
