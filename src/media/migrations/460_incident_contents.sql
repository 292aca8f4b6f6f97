-- Where else the same bytes are, and which incidents are about the same content.
create index assets_by_bytes on assets (sha256) where sha256 is not null;
create index screening_incidents_by_bytes on screening_incidents (sha256) where sha256 <> '';
create index screening_incidents_by_content on screening_incidents ((coalesce(source_id, asset_id)));

-- An incident keeps the name of its content from its start: owners and other decisions delete the content.
update screening_incidents as incident
set title = coalesce(incident.title, assets.name, assets.prompt, source.name, source.prompt),
  generation = coalesce(incident.generation, assets.generation)
from assets left join assets as source on source.asset_id = assets.copied_from
where assets.asset_id = incident.asset_id and incident.check_name in ('report', 'flag');

-- The content of an erased owner is deleted, so nothing is left to decide.
update screening_incidents set status = 'upheld', resolved_at = now()
where owner_id = '00000000-0000-0000-0000-000000000000' and status = 'open' and check_name in ('report', 'flag');
