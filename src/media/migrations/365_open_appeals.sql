-- Appeals that no decision has answered. There are few.
create index screening_incidents_open_appeals on screening_incidents (created_at desc, incident_id desc)
  where appeal is not null and (resolved_at is null or appealed_at > resolved_at);
