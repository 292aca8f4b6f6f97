-- Work that began before an erasure looks for it by its time.
create index memory_erasures_by_time on memory_erasures (created_at);
