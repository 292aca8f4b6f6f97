/** A program that serves runs while a million expired ones are removed, as after a shorter AGENT_TASK_TTL_SECS. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { expect, it } from 'vitest';
import { migrations } from '#app/migrations.ts';
import { newPlace, run } from '../acceptance/running.fixture.ts';
import { createMigratedDatabase, databaseEngines } from '../database.fixture.ts';
import { startTestIssuer } from '../platform/tokenissuer.fixture.ts';

const isMissing = databaseEngines.some(({ name, missing }) => name === 'postgres' && missing);
const million = 1_000_000;
const atOnce = 50_000;
const limitMs = 3_600_000;

it.skipIf(isMissing)(
  'a million expired runs are gone within an hour, and runs are served meanwhile',
  { timeout: 2 * limitMs },
  async () => {
    const [database, place, issuer] = [
      await createMigratedDatabase(migrations),
      await newPlace(),
      await startTestIssuer(),
    ];
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    for (let planted = 0; planted < million; planted += atOnce)
      await client.query(
        `with runs as (
        insert into agent_runs (task_id, thread_id, owner_id, message_id, status, holder, lease_expires_at, epoch_ms, ended_at)
        select gen_random_uuid(), 'old-' || n, gen_random_uuid(), 'm', 'completed', gen_random_uuid(), now(), 1,
          now() - interval '30 days' from generate_series($1::int + 1, $1::int + $2::int) as n
        returning task_id
      )
      insert into agent_events (task_id, first_seq, last_seq, events, is_last) select task_id, 1, 9, repeat('x', 400), true from runs`,
        [planted, atOnce],
      );
    const program = run('start', ['agent', 'media', 'memory', 'edge'], {
      ...place.env,
      DATABASE_URL: database.url,
      JWKS_URL: issuer.jwksUrl,
    });
    try {
      await program.waitFor('Atelier is ready', 120_000);
      const startedAtMs = performance.now();
      const left = async () =>
        (await client.query(`select count(*)::int as left from agent_runs where thread_id like 'old-%'`)).rows[0].left;
      const tookMs: number[] = [];
      let isServing = true;
      const serving = (async () => {
        for (let turn = 0; isServing; turn++) {
          const authorization = `Bearer ${await issuer.token({ sub: randomUUID() })}`;
          const headers = { authorization, 'content-type': 'application/json' };
          const body = JSON.stringify({ threadId: `new-${turn}`, text: 'hello' });
          const at = `http://127.0.0.1:${place.portBase + 4}`;
          const began = performance.now();
          const started = await fetch(`${at}/task`, { method: 'POST', headers, body });
          expect(started.status).toBe(201);
          const { taskId } = (await started.json()) as { taskId: string };
          const stream = await (await fetch(`${at}/stream/${taskId}`, { headers })).text();
          expect(stream).toContain('"type":"finish"');
          tookMs.push(performance.now() - began);
          await sleep(1000);
        }
      })();
      while ((await left()) > 0) {
        expect(performance.now() - startedAtMs).toBeLessThan(limitMs);
        await Promise.race([sleep(10_000), serving]);
      }
      const seconds = Math.round((performance.now() - startedAtMs) / 1000);
      isServing = false;
      await serving;
      const median = tookMs.toSorted((one, other) => one - other)[Math.floor(tookMs.length / 2)];
      console.info(`gone after ${seconds} s; ${tookMs.length} runs meanwhile, median ${Math.round(median ?? 0)} ms`);
      const { rows } = await client.query(`select count(*)::int as events from agent_events where events like 'xxx%'`);
      expect(rows[0].events).toBe(0);
      expect(tookMs.length).toBeGreaterThan(0);
    } finally {
      program.child.kill('SIGTERM');
      await program.ended();
      await client.end();
      await Promise.all([place.remove(), issuer.close()]);
      await database.drop();
    }
  },
);
