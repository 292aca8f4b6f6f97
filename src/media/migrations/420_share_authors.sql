-- The name that the gallery shows with a published asset. Its owner chooses it for each one.
alter table shares add column author text;
