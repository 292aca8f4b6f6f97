/** What a process without work costs its database. */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { expect, it } from 'vitest';
import { migrations } from '#app/migrations.ts';
import { newPlace, run } from '../acceptance/running.fixture.ts';
import { createMigratedDatabase, databaseEngines } from '../database.fixture.ts';

const isMissing = databaseEngines.some(({ name, missing }) => name === 'postgres' && missing);
const watchedMs = 20_000;
const transactionsPerS = 3;

it.skipIf(isMissing)('an idle process commits at most 3 transactions a second', { timeout: 180_000 }, async () => {
  const [database, place] = [await createMigratedDatabase(migrations), await newPlace()];
  const program = run('start', [], { ...place.env, DATABASE_URL: database.url });
  // Its own database, so that its statements are not counted.
  const admin = new pg.Client({
    connectionString: Object.assign(new URL(database.url), { pathname: '/postgres' }).href,
  });
  try {
    await admin.connect();
    await program.waitFor('Atelier is ready');
    const name = new URL(database.url).pathname.slice(1);
    const committed = async () => {
      const { rows } = await admin.query('select xact_commit::int as count from pg_stat_database where datname = $1', [
        name,
      ]);
      return rows[0].count as number;
    };
    // The work of the start itself.
    await sleep(10_000);
    const before = await committed();
    const startedAt = performance.now();
    await sleep(watchedMs);
    const count = (await committed()) - before;
    expect(count).toBeGreaterThan(0);
    expect(count).toBeLessThanOrEqual(Math.ceil(((performance.now() - startedAt) / 1000) * transactionsPerS));
  } finally {
    program.child.kill('SIGTERM');
    await program.ended();
    await admin.end();
    await place.remove();
    await database.drop();
  }
});
