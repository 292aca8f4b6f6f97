-- Sessions that an operator ended: those of the subject that were sealed before.
create table ended_sessions (
  -- SHA-256, as in session_refreshes.
  subject_hash bytea primary key,
  ended_at timestamptz not null
);
