-- Another call saw the file before it removed it: whoever counts it may come too late to see it.
alter table legacy_removals add column seen boolean not null default false;
