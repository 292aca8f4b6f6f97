/** The table that the database suite uses. */
import type { Generated } from 'kysely';

export interface SampleTables {
  samples: {
    id: Generated<number>;
    name: string | null;
    big: number | null;
    body: unknown;
    words: string[] | null;
    bigs: number[] | null;
    bytes: Buffer | null;
    at: Date | null;
    day: string | null;
    amount: string | null;
    ratio: number | null;
    flag: boolean | null;
    uid: string | null;
  };
}

export const sampleMigration = `
create table samples (
  id bigint generated always as identity primary key, name text, big bigint, body jsonb, words text[], bigs bigint[],
  bytes bytea, at timestamptz, day date, amount numeric, ratio double precision, flag boolean, uid uuid
);
create unique index samples_name on samples (name);
`;
