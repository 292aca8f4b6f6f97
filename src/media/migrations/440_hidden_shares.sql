-- A restriction hides the pages of its content. The dismissal of the restriction shows them again.
alter table shares add column hidden_at timestamptz;
