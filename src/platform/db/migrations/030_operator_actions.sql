-- What operators did (platform/audit). Rows are added, never changed.
create table operator_actions (
  action_id bigint generated always as identity primary key,
  at timestamptz not null default now(),
  -- The account of a command, `console`, or `unnamed` for other holders of the key.
  actor text not null,
  action text not null,
  -- No content, and of persons a salted hash.
  target text not null,
  outcome text not null,
  request_id text
);
