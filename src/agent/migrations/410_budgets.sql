-- The shares of budgets that were reached. A row is inserted in the transaction that queues its email and webhook, so each is sent once.
create table agent_budgets_reached (
  period text not null check (period in ('day', 'month')),
  starts_on date not null,
  percent smallint not null,
  budget_usd double precision not null,
  spent_usd double precision not null,
  primary key (period, starts_on, percent)
);
