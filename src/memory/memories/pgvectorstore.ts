/** Adopts a pgvector extension that was created after the memories: converts their vectors from bytes to its type. */
import type { MigrationSession } from '#platform/db/migrations.ts';
import { findPgvector } from '#platform/db/pgvector.ts';

/** Decodes the little-endian floats of `toBytes` exactly. */
const floatsOf = `
create function pg_temp.floats_of(bytes bytea) returns real[] language sql immutable strict as $$
  select array_agg((
    case when top >= 128 then -1 else 1 end * case exponent
      when 0 then fraction * 2::float8 ^ -149
      else (1 + fraction / 8388608::float8) * 2::float8 ^ (exponent - 127)
    end)::real order by place)
  from (
    select place, top, ((top & 127) << 1) | (second >> 7) as exponent,
      ((second & 127) << 16) | (get_byte(bytes, place + 1) << 8) | get_byte(bytes, place) as fraction
    from (
      select place, get_byte(bytes, place + 3) as top, get_byte(bytes, place + 2) as second
      from generate_series(0, length(bytes) - 4, 4) as place) as bits) as parts
$$`;

/** Runs in a transaction. Does nothing if the column has the type, or if the database has no extension. */
export async function adoptPgvector(session: MigrationSession): Promise<void> {
  const pgvector = await findPgvector(session);
  if (pgvector === undefined) return;
  const [column] = await session.query<{ type: string }>(
    `select format_type(atttypid, null) as type from pg_attribute
     where attrelid = to_regclass('memories') and attname = 'embedding'`,
    [],
  );
  if (column?.type !== 'bytea') return;
  await session.run(floatsOf);
  const [name] = await session.query<{ type: string }>(`select quote_ident($1) || '.vector' as type`, [
    pgvector.schema,
  ]);
  await session.run(`
    alter table memories alter column embedding type ${name?.type} using (pg_temp.floats_of(embedding))::${name?.type};
    alter table memories alter column embedding set storage main;
    drop function pg_temp.floats_of(bytea)`);
}
