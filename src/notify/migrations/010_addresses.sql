-- The bare addresses of a mail in lower case, by which operators find the mails of a person.
alter table notify_sends add column addresses text[] not null default '{}';
update notify_sends set addresses = array(
  select lower(coalesce(substring(recipient from '<([^<>]+)>'), recipient))
  from jsonb_array_elements_text(recipients) as recipient
) where recipients is not null;
create index notify_sends_by_address on notify_sends using gin (addresses);
