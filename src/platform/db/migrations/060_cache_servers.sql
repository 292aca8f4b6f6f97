-- The run of the one Redis server whose entries of the cache are valid, and since when. After a failover, processes may be connected to
-- different servers for a while.
alter table cache_epochs add column server_run text, add column server_since timestamptz;
