-- What never became ready: registrations and copies that nobody finished, looked for by their age.
create index assets_unready on assets (asset_id) where ready_at is null;
drop index assets_being_copied;
