-- The asset that the work becomes. It is registered only in the transaction that settles the entry.
alter table credit_ledger add column asset_id uuid;
create index credit_ledger_by_asset on credit_ledger (asset_id) where asset_id is not null;
-- The end of a scope reads what was settled in it, too.
create index credit_ledger_by_scope on credit_ledger (scope);
drop index credit_ledger_open;
