-- A price of 0 credits is free, and its reservation is an entry like others.
alter table credit_ledger
  drop constraint credit_ledger_amount_check,
  add constraint credit_ledger_amount_check check (amount >= 0);
