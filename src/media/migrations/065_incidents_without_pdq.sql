-- Every upload is matched by its exact digests; only pictures have a perceptual hash.
alter table screening_incidents alter column pdq drop not null;
alter table screening_incidents alter column pdq_quality drop not null;
-- Paths of the legacy backend that an incident names resolve to nothing.
create index screening_incidents_by_origin on screening_incidents (origin) where origin is not null;
