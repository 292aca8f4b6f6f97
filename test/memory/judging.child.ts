/** A memory service with a language model in a process of its own, for the tests that kill it. */
import { migrations } from '#app/migrations.ts';
import { openDatabase } from '#platform/db/open.ts';
import { createLog } from '#platform/log.ts';
import { languageModelAt, startMemory } from './rig.fixture.ts';

const [databaseUrl = '', modelUrl = ''] = process.argv.slice(2);
const log = createLog({ level: 'silent' });
const database = await openDatabase({ url: databaseUrl, dataDir: '', migrations, log });
const engine = { name: 'postgres' as const, missing: false, open: async () => database };
const rig = await startMemory(engine, { languageModel: await languageModelAt(modelUrl), leaseMs: 1000 });
process.stdout.write(`${rig.url}\n`);
