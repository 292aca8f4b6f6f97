-- What an operator decided about an incident.
alter table screening_incidents add column status text not null default 'open'
  check (status in ('open', 'upheld', 'cleared'));
alter table screening_incidents add column resolved_at timestamptz;
alter table screening_incidents add column note text;
create index screening_incidents_by_age on screening_incidents (created_at desc, incident_id desc);
-- The newest resolution of a content decides whether it passes.
create index screening_incidents_resolved on screening_incidents (sha256, resolved_at desc) where resolved_at is not null;
