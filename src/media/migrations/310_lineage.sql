-- The order that a model made the asset from, and the assets that it was given.
alter table assets add column generation jsonb, add column derived_from uuid[];
create index assets_derived on assets using gin (derived_from) where derived_from is not null;
