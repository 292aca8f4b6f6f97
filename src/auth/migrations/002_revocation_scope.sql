-- What a sign-out ends: every session of the user, or the one that the token belongs to.
alter table session_revocations
  add column scope text not null default 'global' check (scope in ('global', 'local'));
