-- The parts of an item are looked up by it: the pages of a file, the files of a mail.
CREATE INDEX item_parent ON item (submission_id, parent_id, id) WHERE parent_id IS NOT NULL;
