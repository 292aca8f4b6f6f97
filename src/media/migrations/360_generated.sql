-- How an image or a video was made: `ai` by a model, `edited` by a model that changed what a person made.
alter table assets add column generated text check (generated in ('ai', 'edited'));
-- Shares and the gallery said this of them before.
update assets set generated = 'ai' where model is not null;
