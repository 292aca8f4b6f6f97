-- Accounts that are to be deleted. A row stays until no job mentions the person.
create table account_deletions (
  deletion_id uuid primary key default gen_random_uuid(),
  user_id uuid not null unique,
  email text,
  language text,
  -- Whether the person gets mails.
  mails boolean not null,
  deletes_at timestamptz not null,
  stage text not null check (stage in ('requested', 'announced', 'erasing', 'erased', 'mailed'))
);
