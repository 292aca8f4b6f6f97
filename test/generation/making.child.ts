/**
 * A process with the agent, media and edge services that places one order and is killed before one of its steps. Without an order, it
 * finishes the work of killed processes, and its outcome is the resulting state.
 */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { type AccountTables, ensureProfile, findProfile } from '#accounts/store.ts';
import type { Generation, GenerationPage } from '#agent/generation/api.ts';
import { openImageProvider, openVideoProvider } from '#agent/providers/openaimedia.ts';
import { longVideoQueue, videoUploadQueue } from '#media/tasks/processing.ts';
import { systemClock } from '#platform/clock.ts';
import { mapConcurrently } from '#platform/concurrency.ts';
import type { Database } from '#platform/db/db.ts';
import { openFilesystem } from '#platform/objects/files/filesystem.ts';
import { type AgentRig, chatter, startAgent } from '../agent/rig.fixture.ts';
import { type CrashOrders, obey } from '../crashes/dying.fixture.ts';
import { setPlanAndCredits } from '../credits.fixture.ts';
import { type Interrupt, interrupted } from '../media/interruption.fixture.ts';
import { embedded } from '../media/rig.fixture.ts';

export interface MakingOrders extends CrashOrders {
  /** `undefined`: finish the work of these users. */
  readonly order?: { readonly userId: string; readonly path: string; readonly body: object };
  readonly users: readonly string[];
  readonly provider: { readonly url: string; readonly apiKey: string };
}

export interface UserState {
  readonly balance: number | undefined;
  readonly generations: readonly Generation[];
  readonly usage: readonly { readonly images: number; readonly videos: number; readonly credits: number }[];
  readonly assets: readonly string[];
  readonly reserved: number;
  /** The generations whose end was published. */
  readonly published: readonly string[];
}

export const startingCredits = 100;
const pollEveryMs = 20;
/** Each person lists many times, so all at once would be refused. */
const peopleAtOnce = 8;

await obey<MakingOrders>(import.meta.filename, async (orders, database, interrupt) => {
  let isDying = false;
  const atStep: Interrupt = (moment) => (isDying ? interrupt(moment) : undefined);
  /** The same target. Its calls of these names are steps. */
  const watch = <Target extends object>(target: Target, ...names: readonly (keyof Target)[]): Target => {
    const { objects } = interrupted({ db: database.queries(), objects: target }, atStep);
    return { ...target, ...Object.fromEntries(names.map((name) => [name, objects[name]])) };
  };
  const dying = {
    ...database,
    queries: () => interrupted({ db: database.queries(), objects: {} }, atStep).db,
    close: async () => undefined,
  } as unknown as Database;
  const settings = { ...orders.provider, name: 'painter' };
  const imageGenerator = watch(openImageProvider(settings), 'generate');
  const videoGenerator = watch(openVideoProvider(settings, pollEveryMs), 'order', 'isMade', 'download');
  // Of processes that were killed before: left for the end.
  const parked = orders.order === undefined ? 'now()' : "now() + interval '1 day'";
  await sql`update jobs set status = 'waiting', run_at = ${sql.raw(parked)} where status in ('waiting', 'running')`.execute(
    database.queries(),
  );
  const rig = await startAgent(
    {
      ...embedded,
      openDatabase: async () => dying,
      openObjects: async (edge) => {
        const open = (bucket: string) =>
          openFilesystem({
            ...{ bucket, edge, clock: systemClock },
            root: join(orders.dataDir, bucket),
            stagingFolder: join(orders.dataDir, 'incoming'),
          });
        return {
          originals: watch(open('objects'), 'head', 'get', 'put', 'remove'),
          publicObjects: open('public'),
          close: async () => undefined,
        };
      },
    },
    { imageGenerator, videoGenerator },
    { sizes: { maxImageBytes: 1e7, maxVideoBytes: 1e7, maxSourcePixels: 1e7 } },
  );
  try {
    if (orders.order === undefined) return JSON.stringify(await finish(rig, database, orders.users));
    const { userId, path, body } = orders.order;
    const accounts = database.queries<AccountTables>();
    await setPlanAndCredits(accounts, (await ensureProfile(accounts, { id: userId })).id, 'pro', startingCredits);
    const user = await personOf(rig, userId);
    isDying = true;
    const { status } = await user.agent.call('POST', path, body, { prefer: 'wait=60' });
    return String(status);
  } finally {
    await rig.close();
  }
});

async function personOf({ url, media }: AgentRig, userId: string) {
  const credential = { authorization: `Bearer ${await media.issuer.token({ sub: userId })}` };
  return { agent: chatter(url, userId, credential), media: chatter(media.url, userId, credential) };
}

async function finish(rig: AgentRig, database: Database, users: readonly string[]): Promise<readonly UserState[]> {
  const db = database.queries<AccountTables>();
  const people = await Promise.all(users.map(async (userId) => ({ userId, ...(await personOf(rig, userId)) })));
  const list = async ({ agent }: (typeof people)[number]) => {
    const { status, body } = await agent.call<GenerationPage>('GET', '/generations');
    if (status !== 200) throw new Error(`GET /generations was answered ${status}: ${JSON.stringify(body)}`);
    return body.generations;
  };
  await mapConcurrently(people, peopleAtOnce, async (person) => {
    while ((await list(person)).some(({ status }) => status === 'running')) await sleep(100);
  });
  // The poster of a clip is an image of its own until the clip shows it.
  const isProcessing = async () => {
    const queues = [videoUploadQueue.name, longVideoQueue.name];
    const { rows } = await sql`
      select from jobs where queue = any(${queues}::text[]) and status in ('waiting', 'running')`.execute(db);
    return rows.length > 0;
  };
  while (await isProcessing()) await sleep(100);
  return mapConcurrently(people, peopleAtOnce, async (person): Promise<UserState> => {
    const { userId, agent, media } = person;
    const usage = await agent.call<{ days: UserState['usage'] }>('GET', '/usage');
    const { body } = await media.call<{ assets: { assetId: string }[] }>('GET', '/v1/assets?thumbnails=false');
    const { rows: reserved } = await sql`
      select from credit_ledger where user_id = ${userId} and state = 'reserved'`.execute(db);
    const { rows: events } = await sql<{ id: string }>`
      select event ->> 'generationId' as id from agent_user_events
      where user_id = ${userId} and event ->> 'type' like 'generation.%'`.execute(db);
    return {
      balance: (await findProfile(db, userId))?.credits,
      generations: await list(person),
      usage: usage.body.days,
      assets: body.assets.map(({ assetId }) => assetId),
      reserved: reserved.length,
      published: events.map(({ id }) => id),
    };
  });
}
