-- Sign-outs are sent to the identity provider by jobs of the queue `auth/revoke`. Columns of the turns of earlier versions
-- stay until no process of such a version can run beside this one. `infinity` keeps those processes from taking a row that
-- has a job.
alter table session_revocations alter column next_at set default 'infinity';
