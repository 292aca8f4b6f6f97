-- The list of accepted mails, newest first. Replaces the index on the age alone.
create index notify_sends_newest on notify_sends (created_at desc, id desc);
drop index notify_sends_by_age;
