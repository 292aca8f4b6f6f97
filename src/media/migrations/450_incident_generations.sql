-- The order that the content was made from when it was decided about. A removal deletes the asset, and its run remains.
alter table screening_incidents add column generation jsonb;
