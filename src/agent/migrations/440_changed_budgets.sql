-- Budgets that operators set or removed. A row replaces the setting of its period, so that all processes have the same budget.
create table agent_budgets (
  period text primary key check (period in ('day', 'month')),
  -- null: there is no budget.
  budget_usd double precision check (budget_usd > 0),
  changed_at timestamptz not null default now()
);
