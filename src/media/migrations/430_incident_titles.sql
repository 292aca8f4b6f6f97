-- The name or the prompt of the content when it was decided about. A removal deletes the asset, and its owner can appeal.
alter table screening_incidents add column title text;
