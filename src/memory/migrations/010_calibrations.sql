-- What similarity means for an embedder, found once by embedding the shipped pairs of texts. Without points, similarities
-- are used as they are.
create table memory_calibrations (
  embedder text not null,
  -- Of the pairs: another edition is embedded again.
  edition integer not null,
  points jsonb not null,
  primary key (embedder, edition)
);
