-- A legacy file is one asset at most, however often it is registered; and it is looked for by where it lies.
create unique index assets_in_legacy on assets (bucket, storage_key) where backend = 'legacy';
