-- The key that unsubscribe links are signed with: made once, for as long as the links in old mails have to work.
create table unsubscribe_keys (
  id integer primary key check (id = 1),
  secret text not null
);
insert into unsubscribe_keys (id, secret)
values (1, replace(gen_random_uuid()::text || gen_random_uuid()::text || gen_random_uuid()::text, '-', ''));
