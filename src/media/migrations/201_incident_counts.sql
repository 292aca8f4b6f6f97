-- Counts for each status and list, from the index alone.
create index screening_incidents_by_list on screening_incidents (status, list);
-- The newest of a status, also where few incidents have it.
create index screening_incidents_by_status on screening_incidents (status, created_at desc, incident_id desc);
-- Few incidents have an appeal.
create index screening_incidents_appealed on screening_incidents (created_at desc, incident_id desc) include (status, list)
  where appeal is not null;
