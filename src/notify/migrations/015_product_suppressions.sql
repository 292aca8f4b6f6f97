-- A complaint blocks product mails only: mails about the account itself still reach the person.
alter table suppressed_addresses
  add column blocks text not null default 'all' check (blocks in ('all', 'product'));
update suppressed_addresses set blocks = 'product' where reason = 'complained' or reason like 'complained: %';
-- The recipients that a server accepted before an attempt failed. Later attempts leave them out.
alter table notify_sends add column accepted text[] not null default '{}';
