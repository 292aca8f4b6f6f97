-- The name of the model that made the asset, if a model made it.
alter table assets add column model text;
