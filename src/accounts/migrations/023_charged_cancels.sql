-- Settled for a canceled order: it stays taken, but the asset was not delivered and must not become readable.
alter table credit_ledger add column is_canceled boolean not null default false;
