/**
 * `npm run measure -- growth [<rows>]`: each endpoint of the media service on two databases of one PostgreSQL, with ten thousand
 * and with a million asset rows (or as many as named), by turns. Prints how much slower it is on the large one, and which
 * tables were scanned completely. The exit code is 1 if an endpoint is over the limit.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { createPostgresDatabase } from '../../test/database.fixture.ts';
import { startTestIssuer, testUserId } from '../../test/platform/tokenissuer.fixture.ts';
import { freePortBase } from '../../test/ports.fixture.ts';
import { startSuite } from '../../test/soak/suites.ts';
import { median } from '../bench.ts';
import { createEndpoints, type Endpoints } from './endpoints.ts';
import { plant } from './planting.ts';

const small = 10_000;
const large = Number(process.argv[2] ?? 1_000_000);
const bound = 1.5;
const warmUpRounds = 5;
const rounds = 41;
const internalKey = 'a key of the benchmark';

interface Ground {
  readonly rows: number;
  readonly client: pg.Client;
  readonly endpoints: Endpoints;
}

const closing: (() => Promise<unknown>)[] = [];
try {
  const issuer = await startTestIssuer();
  closing.push(issuer.close);
  const token = await issuer.token({ sub: testUserId });
  const [few, many] = [await lay(small), await lay(large)];
  const before = await scansOf(many);
  const table = await measure(few, many);
  console.table(table);
  await tellSize(many);
  const scanned = Object.entries(await scansOf(many)).filter(([name, count]) => count > (before[name] ?? 0));
  console.log(
    scanned.length === 0
      ? 'No table of more than 1,000 rows was read from end to end.'
      : `Read from end to end: ${scanned.map(([name, count]) => `${name} (${count - (before[name] ?? 0)} times)`).join(', ')}.`,
  );
  console.log(`Medians of ${rounds} rounds; load of the machine: ${(loadavg()[0] ?? 0).toFixed(1)}.`);
  process.exitCode = scanned.length === 0 && table.every(({ ratio }) => ratio <= bound) ? 0 : 1;

  async function lay(rows: number): Promise<Ground> {
    const database = await createPostgresDatabase();
    closing.push(database.drop);
    const folder = await mkdtemp(join(tmpdir(), 'atelier-growth-'));
    closing.push(() => rm(folder, { recursive: true, force: true }));
    const portBase = await freePortBase();
    const suite = await startSuite(['media', 'image', 'edge'], portBase, {
      ATELIER_DATA_DIR: folder,
      DATABASE_URL: database.url,
      JWKS_URL: issuer.jwksUrl,
      INTERNAL_KEY: internalKey,
    });
    closing.push(suite.stop);
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    closing.push(() => client.end());
    console.error(`planting ${rows.toLocaleString('en')} rows …`);
    const own = await plant(client, rows, testUserId);
    const endpoints = createEndpoints(
      `http://127.0.0.1:${portBase + 1}`,
      { userId: testUserId, token, internalKey },
      own,
    );
    return { rows, client, endpoints };
  }
} finally {
  for (const close of closing.reverse()) await close();
}

async function measure(few: Ground, many: Ground) {
  const table: { endpoint: string; small_ms: number; large_ms: number; ratio: number; holds: string }[] = [];
  for (const name of Object.keys(few.endpoints)) {
    const spent = { few: [] as number[], many: [] as number[] };
    for (let round = -warmUpRounds; round < rounds; round++) {
      const turns = [['few', few] as const, ['many', many] as const];
      for (const [which, ground] of round % 2 === 0 ? turns : turns.reverse()) {
        const { prepare, call } = ground.endpoints[name] ?? {};
        const given = await prepare?.();
        const startedAtMs = performance.now();
        await call?.(given ?? '');
        if (round >= 0) spent[which].push(performance.now() - startedAtMs);
      }
    }
    const [fewMs, manyMs] = [median(spent.few), median(spent.many)];
    const ratio = Number((manyMs / fewMs).toFixed(2));
    table.push({
      endpoint: name,
      small_ms: Number(fewMs.toFixed(2)),
      large_ms: Number(manyMs.toFixed(2)),
      ratio,
      holds: ratio <= bound ? 'yes' : 'NO',
    });
  }
  return table;
}

async function tellSize({ client, rows }: Ground): Promise<void> {
  const { rows: sizes } = await client.query<{ heap: string; indexes: string }>(
    "select pg_relation_size('assets') as heap, pg_indexes_size('assets') as indexes",
  );
  const [heap, indexes] = [Number(sizes[0]?.heap) / rows, Number(sizes[0]?.indexes) / rows];
  console.log(`A row of assets takes ${Math.round(heap)} bytes, and ${Math.round(indexes)} in its indexes.`);
}

/** How often each table of some size was read from end to end so far. */
async function scansOf({ client }: Ground): Promise<Readonly<Record<string, number>>> {
  // The server's counters come a little later than what they count.
  await new Promise((resolve) => setTimeout(resolve, 2000));
  const { rows } = await client.query<{ relname: string; seq_scan: string }>(
    'select relname, seq_scan from pg_stat_user_tables where n_live_tup > 1000',
  );
  return Object.fromEntries(rows.map(({ relname, seq_scan }) => [relname, Number(seq_scan)]));
}
