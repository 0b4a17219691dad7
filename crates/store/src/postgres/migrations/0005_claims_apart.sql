-- A claim's jobs have one lease as long as their worker extends them together. One that extends some and not others has
-- two from then on, under the same token.

ALTER TABLE claim DROP CONSTRAINT claim_pkey;
CREATE INDEX claim_token_order ON claim (token);
