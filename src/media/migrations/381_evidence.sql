-- Until when an encrypted copy of the blocked bytes is kept. Null: there is none.
alter table screening_incidents add column evidence_until timestamptz;
create index screening_incidents_with_evidence on screening_incidents (evidence_until) where evidence_until is not null;
