-- When a fact was said, which can be long before it is added.
alter table memories add column said_at timestamptz;
update memories set said_at = updated_at;
alter table memories alter column said_at set default now();
alter table memories alter column said_at set not null;
