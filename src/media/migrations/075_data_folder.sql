-- The data folder in which the rows have their files: another one has other ETags (platform/datafolder/identity.ts).
create table data_folder (
  is_only boolean primary key default true check (is_only),
  identity text not null
);
