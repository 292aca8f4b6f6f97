/** The worker of extractions in a process of its own, for the test that kills it. */
import type { AgentContext } from '#agent/context.ts';
import { workOnExtractions } from '#agent/extraction/extracting.ts';
import { AgentMetrics } from '#agent/metrics.ts';
import { migrations } from '#app/migrations.ts';
import { openDatabase } from '#platform/db/open.ts';
import { createClient } from '#platform/http/client.ts';
import { createJobs } from '#platform/jobs/queueing.ts';
import { createLog } from '#platform/log.ts';

const [databaseUrl = '', memoryUrl = '', internalKey = ''] = process.argv.slice(2);
const log = createLog({ level: 'silent' });
const database = await openDatabase({ url: databaseUrl, dataDir: '', migrations, log });
const jobs = createJobs({ database, log, leaseMs: 1000 });
const memory = createClient({ name: 'memory', baseUrl: memoryUrl, isInternal: true, internalKey, timeoutMs: 10_000 });
const context = { db: database.queries(), jobs, memory, metrics: new AgentMetrics(), log } as Partial<AgentContext>;
workOnExtractions(context as AgentContext);
