/** The memory service on a port of its own, over a database of its own, for the tests. */
import { randomUUID } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { describe } from 'vitest';
import { readConfig } from '#app/config.ts';
import { migrations } from '#app/migrations.ts';
import { openMemoryModel } from '#app/wiring/memorymodel.ts';
import { createBuiltinEmbedder } from '#memory/embedding/builtin.ts';
import type { Embedder } from '#memory/embedding/embedder.ts';
import { createMemory, type LanguageModelOptions } from '#memory/service.ts';
import { createAccess } from '#platform/access/access.ts';
import { systemClock } from '#platform/clock.ts';
import type { Database } from '#platform/db/db.ts';
import type { ActingClient } from '#platform/http/client.ts';
import type { HttpServer } from '#platform/http/server.ts';
import { createJobs } from '#platform/jobs/queueing.ts';
import { createLog } from '#platform/log.ts';
import { type DatabaseEngine, laneEngines } from '../database.fixture.ts';
import { startTestIssuer, testUserId } from '../platform/tokenissuer.fixture.ts';

export function onEveryDatabase(title: string, suite: (engine: DatabaseEngine) => void): void {
  for (const engine of laneEngines) describe.skipIf(engine.missing)(`${title} on ${engine.name}`, () => suite(engine));
}

interface Answer<Body> {
  readonly status: number;
  readonly body: Body;
}

export interface Refusal {
  readonly error: string;
  readonly message: string;
  readonly issues?: readonly { readonly path: string }[];
}

/** A caller with a credential. */
export interface Client {
  send<Body = Refusal>(method: string, path: string, payload?: unknown): Promise<Answer<Body>>;
}

export interface MemoryRig {
  readonly url: string;
  readonly database: Database;
  readonly userId: string;
  readonly user: Client;
  readonly server: Client;
  readonly operator: Client;
  /** Sends the headers given, and nothing else that could be a credential. */
  readonly client: (headers: Record<string, string>) => Client;
  close(): Promise<void>;
}

export const testInternalKey = 'an internal key';
export const testAdminToken = 'an admin token';

export interface RigOptions {
  readonly embedder?: Embedder;
  /** Of another rig, which closes it. */
  readonly database?: Database;
  readonly languageModel?: LanguageModelOptions | undefined;
  readonly judgingDelayMs?: number;
  readonly agent?: ActingClient;
  /** How soon another process takes over the jobs of this one. */
  readonly leaseMs?: number;
}

/** The language model of memories at this URL, as the settings open it. */
export function languageModelAt(
  url: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<LanguageModelOptions | undefined> {
  const environment = { MEMORY_MODEL_BASE_URL: url, MEMORY_MODEL_NAME: 'a-judge', MEMORY_MODEL_API_KEY: 'a key' };
  const config = readConfig({ ...environment, ...settings }, [], { keepSecrets: false });
  return openMemoryModel({ config, log: createLog({ level: 'silent' }), telemetry: undefined });
}

export async function startMemory(engine: DatabaseEngine, options: RigOptions = {}): Promise<MemoryRig> {
  const log = createLog({ level: 'silent' });
  const database = options.database ?? (await engine.open(migrations));
  const jobs = createJobs({ database, log, ...(options.leaseMs && { leaseMs: options.leaseMs }) });
  const issuer = await startTestIssuer();
  const app = await createMemory({
    server: { log, readiness: { database: () => database.check() }, maxInFlight: 5000 },
    agentOrigins: ['https://app.example'],
    clock: systemClock,
    access: createAccess({ internalKeys: [testInternalKey], jwksUrl: issuer.jwksUrl, log }),
    adminToken: testAdminToken,
    database,
    jobs,
    embedder: options.embedder ?? createBuiltinEmbedder(),
    languageModel: options.languageModel,
    agent: options.agent,
    pace: { judgingDelayMs: options.judgingDelayMs ?? 0 },
  });
  const url = await listen(app);
  const client = (headers: Record<string, string>) => createClient(url, headers);
  return {
    url,
    database,
    client,
    userId: testUserId,
    user: client({ authorization: `Bearer ${await issuer.token({ sub: testUserId })}` }),
    server: client({ 'x-internal-key': testInternalKey }),
    operator: client({ 'x-admin-token': testAdminToken }),
    close: async () => {
      await Promise.all([app.close(), issuer.close()]);
      await jobs.stop();
      if (options.database === undefined) await database.close();
    },
  };
}

async function listen(app: HttpServer): Promise<string> {
  await app.listen({ port: 0, host: '127.0.0.1' });
  return `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
}

function createClient(url: string, credential: Record<string, string>): Client {
  return {
    async send<Body>(method: string, path: string, payload?: unknown) {
      const response = await fetch(url + path, {
        method,
        headers: { ...(payload === undefined ? {} : { 'content-type': 'application/json' }), ...credential },
        body: payload === undefined ? null : typeof payload === 'string' ? payload : JSON.stringify(payload),
      });
      const text = await response.text();
      return { status: response.status, body: (text === '' ? undefined : JSON.parse(text)) as Body };
    },
  };
}

/** Returns a new entity. */
export const newUser = () => ({ entity_id: randomUUID(), entity_type: 'user' as const });
export const newGroup = () => ({ entity_id: `group-${randomUUID()}`, entity_type: 'group' as const });
