-- What the asset was made from, if a model made it. The second column has the form that searches compare.
alter table assets add column prompt text, add column prompt_search text;
