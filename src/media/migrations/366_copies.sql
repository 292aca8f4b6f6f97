-- The asset that a copy was made from, by the same owner: the first one, if that was a copy too.
alter table assets add column copied_from uuid;
create index assets_copied on assets (copied_from) where copied_from is not null;
-- Published copies from before have the same bytes, unless their metadata was removed.
update assets set copied_from = source.asset_id from assets as source
where assets.scope_kind = 'feed' and assets.ready_at is not null and source.scope_kind <> 'feed'
  and source.owner_id = assets.owner_id and source.sha256 = assets.sha256 and source.ready_at is not null;

-- What a reported copy was made from. A decision applies to it too.
alter table screening_incidents add column source_id uuid;
