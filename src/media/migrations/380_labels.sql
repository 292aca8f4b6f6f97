-- What the classifier saw in it, as [{ name, score }]. Null: it named no labels.
alter table assets add column labels jsonb;
create index assets_by_label on assets using gin (labels jsonb_path_ops) where labels is not null;

-- The same bytes can be blocked for a label, and be on a list later.
drop index screening_incidents_of_blocks;
create unique index screening_incidents_of_blocks on screening_incidents (asset_id, sha256, (check_name = 'label'))
  where check_name not in ('report', 'flag');
