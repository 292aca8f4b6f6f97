/**
 * The agent service in a process of its own, with a model at the URL that the argument names, or one in the process. On
 * PostgreSQL and Redis where they are available, so that the processor time is the service's and not an engine's.
 */
import { migrations } from '../src/app/migrations.ts';
import { modelsOf, startAgent, testSettings } from '../test/agent/rig.fixture.ts';
import { databaseEngines } from '../test/database.fixture.ts';
import { embedded } from '../test/media/rig.fixture.ts';
import { openTestRedis, skipWithoutRedis } from '../test/redis.fixture.ts';
import { chunksOf, chunksPerRun, modelOf } from './models.ts';
import { serve } from './peers/serving.mjs';

const [url] = process.argv.slice(2);
const postgres = databaseEngines.find(({ name }) => name === 'postgres');
const engine = postgres === undefined || postgres.missing ? undefined : postgres;
const redis = skipWithoutRedis ? undefined : await openTestRedis();
const model =
  url === undefined
    ? { offlineModel: modelOf(() => chunksOf(chunksPerRun)) }
    : { model: modelsOf({ url, names: ['bench'], file: undefined }) };
const pair = engine === undefined ? embedded : { ...embedded, openDatabase: () => engine.open(migrations) };
const rig = await startAgent(pair, {
  ...model,
  redis,
  settings: { ...testSettings, maxRunsPerUser: 1_000 },
  pace: { maxStreamsPerUser: Number.POSITIVE_INFINITY },
});
const user = await rig.user('pro', 1_000_000);

serve({
  /** The service, with the credential of a user. The benchmark sends the requests, whose cost is not the service's. */
  open: async () => ({ url: rig.url, headers: user.credential }),
  say: async () => undefined,
  async close() {
    await rig.close();
    await redis?.close();
  },
});
