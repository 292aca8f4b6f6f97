-- Which bytes of a legacy file its watermark file was made of. Without a row, or with other etags, it is made again.
create table legacy_watermarks (
  bucket text not null,
  -- Of the watermark file.
  storage_key text not null,
  etag text not null,
  source_etag text not null,
  primary key (bucket, storage_key)
);
