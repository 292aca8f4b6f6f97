-- What people report, and what operators decide about it.
alter table assets add column restricted_at timestamptz;
-- What may not be published again.
create index assets_restricted on assets (owner_id, sha256) where restricted_at is not null;

-- A conversation has no asset.
alter table screening_incidents alter column asset_id drop not null;
alter table screening_incidents add column thread_id text;
alter table screening_incidents add column share_id text;
-- People who reported it.
alter table screening_incidents add column reports integer not null default 0;
alter table screening_incidents add column is_priority boolean not null default false;
alter table screening_incidents add column decision text check (decision in ('dismiss', 'restrict', 'remove'));
alter table screening_incidents add column statement text;

-- Blocked content is one incident, however often it is uploaded. A report after a decision makes a new one.
alter table screening_incidents drop constraint screening_incidents_asset_id_sha256_key;
create unique index screening_incidents_of_blocks on screening_incidents (asset_id, sha256)
  where check_name not in ('report', 'flag');
create unique index screening_incidents_of_assets on screening_incidents (asset_id)
  where check_name in ('report', 'flag') and status = 'open' and asset_id is not null;
create unique index screening_incidents_of_threads on screening_incidents (owner_id, thread_id)
  where thread_id is not null and status = 'open';
create index screening_incidents_decided_threads on screening_incidents (owner_id, thread_id)
  where thread_id is not null and decision is not null;
create index screening_incidents_by_priority
  on screening_incidents (is_priority desc, created_at desc, incident_id desc);

create table content_reports (
  report_id uuid primary key default gen_random_uuid(),
  incident_id uuid not null references screening_incidents (incident_id) on delete cascade,
  -- `user:<id>`, or `address:<keyed digest>` without an account.
  reporter text not null,
  -- `asset:<id>` or `thread:<owner>/<id>`.
  target text not null,
  -- Null: without an account.
  reporter_id uuid,
  reason text not null,
  note text,
  contact text,
  -- Of the answer.
  language text,
  created_at timestamptz not null default now(),
  unique (reporter, target)
);

create index content_reports_by_incident on content_reports (incident_id, created_at);
create index content_reports_by_reporter on content_reports (reporter_id) where reporter_id is not null;

-- Reports of the last day.
create table report_counts (
  reporter text primary key,
  since timestamptz not null default now(),
  count integer not null default 1
);
