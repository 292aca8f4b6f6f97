/** As its own process, for refresh.ts: the authentication service on an embedded database of its own. */
import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrations } from '../src/app/migrations.ts';
import { createAuth } from '../src/auth/service.ts';
import { systemClock } from '../src/platform/clock.ts';
import { openDatabase } from '../src/platform/db/open.ts';
import { createJobs } from '../src/platform/jobs/queueing.ts';
import { createLog } from '../src/platform/log.ts';

const [providerUrl = '', databaseUrl = 'embedded'] = process.argv.slice(2);
const log = createLog({ level: 'silent' });
const dataDir = await mkdtemp(join(tmpdir(), 'atelier-bench-'));
const database = await openDatabase({ url: databaseUrl, dataDir, migrations, log });
const app = await createAuth({
  server: { log, readiness: {} },
  clock: systemClock,
  database,
  jobs: createJobs({ database, log }),
  publicUrl: 'http://localhost:4003',
  allowedOrigins: ['https://app.example.com'],
  defaultOrigin: 'https://app.example.com',
  cookieSecrets: ['a secret of the benchmark'],
  provider: { url: providerUrl, anonKey: 'anon', socialProvider: 'google' },
});
await app.listen({ port: 0, host: '127.0.0.1' });
process.stdout.write(String((app.server.address() as AddressInfo).port));
process.stdin.resume().once('end', async () => {
  await app.close();
  await database.close();
  await rm(dataDir, { recursive: true, force: true });
  process.exit();
});
