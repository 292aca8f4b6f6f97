-- The upload that the product's own job processes. Null: another task, or one from before this column.
alter table media_tasks add column storage_key text;
update media_tasks set storage_key = concat_ws('/', 'u', owner_id, jobs.payload ->> 'scopeKind', jobs.payload ->> 'scopeId',
  asset_id || case jobs.payload ->> 'mime' when 'video/quicktime' then '.mov' when 'video/webm' then '.webm' else '.mp4' end)
from jobs
where jobs.queue = 'video-upload-service' and jobs.unique_key = 'videoTask:' || task_id
  and media_tasks.status in ('pending', 'processing') and run_id is not null;
create index media_tasks_unfinished on media_tasks (owner_id, storage_key)
  where run_id is not null and status in ('pending', 'processing');
