-- The jobs of one owner in a queue. Lanes take turns; '' is the lane of jobs without one.
alter table jobs add column lane text not null default '';
-- When the last attempt began.
alter table jobs add column claimed_at timestamptz;
create index jobs_by_lane on jobs (queue, lane, claimed_at) where lane <> '' and claimed_at is not null;
