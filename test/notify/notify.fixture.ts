/** Notification services for tests, and a channel that a test can read and make fail. */
import { hash, randomUUID } from 'node:crypto';
import { migrations } from '#app/migrations.ts';
import type { Channel } from '#notify/channels/channel.ts';
import type { Mail } from '#notify/mail.ts';
import { sendQueue } from '#notify/queue.ts';
import { insertSend } from '#notify/sendstore.ts';
import { createNotify, type NotifyDeps } from '#notify/service.ts';
import type { NotifyTables } from '#notify/tables.ts';
import { type Database, transaction } from '#platform/db/db.ts';
import type { HttpServer } from '#platform/http/server.ts';
import { createJobs } from '#platform/jobs/queueing.ts';
import { createLog, type Log } from '#platform/log.ts';
import type { DatabaseEngine } from '../database.fixture.ts';

export const internalKey = 'the internal key';

/** Stores sent mails in memory. A test can delay and fail sends. */
export interface TestChannel extends Channel {
  readonly sent: { readonly id: string; readonly mail: Mail }[];
  obstruct(obstacle: (signal: AbortSignal) => Promise<void>): void;
}

export function createTestChannel(): TestChannel {
  const sent: { id: string; mail: Mail }[] = [];
  let obstacle: (signal: AbortSignal) => Promise<void> = async () => undefined;
  return {
    sent,
    obstruct: (next) => {
      obstacle = next;
    },
    async send(mail, { id, signal }) {
      await obstacle(signal);
      sent.push({ id, mail });
      return `provider-${id}`;
    },
    check: async () => undefined,
    close: async () => undefined,
  };
}

export interface NotifyRig {
  readonly app: HttpServer;
  readonly url: string;
  post(path: string, body: unknown, headers?: Readonly<Record<string, string>>): Promise<Answer>;
  /** `body`: nothing is `{}`. */
  call(method: string, path: string): Promise<Answer>;
  close(): Promise<void>;
}

export interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

export async function startNotify(
  database: Database,
  channel: Channel,
  {
    internalKeys = [internalKey],
    log = createLog({ level: 'silent' }),
    brand = { name: 'Atelier', color: '#3730a3' },
    templatesDir,
    contentUrl = 'http://127.0.0.1:9',
    webhooks,
  }: Partial<Pick<NotifyDeps, 'internalKeys' | 'brand' | 'templatesDir' | 'contentUrl' | 'webhooks'>> & {
    readonly log?: Log;
  } = {},
): Promise<NotifyRig> {
  const app = await createNotify({
    server: { log, readiness: {} },
    internalKeys,
    database,
    // As often as a test can wait for. Leases outlive every pause of a busy machine.
    jobs: createJobs({ database, log, pollEveryMs: 100, sweepEveryMs: 200, isSoleProcess: false }),
    channel,
    webhooks,
    from: 'Atelier <noreply@example.com>',
    appUrl: 'https://app.example.com',
    unsubscribeUrl: 'https://content.example.com/unsubscribe',
    brand,
    templatesDir,
    contentUrl,
  });
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  return {
    app,
    url,
    async post(path, body, headers = {}) {
      const response = await fetch(url + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-internal-key': internalKey, ...headers },
        body: JSON.stringify(body),
      });
      const text = await response.text();
      return { status: response.status, body: JSON.parse(text || '{}') as Answer['body'] };
    },
    async call(method, path) {
      const response = await fetch(url + path, { method, headers: { 'x-internal-key': internalKey } });
      const text = await response.text();
      return { status: response.status, body: JSON.parse(text || '{}') as Answer['body'] };
    },
    close: () => app.close(),
  };
}

/** An accepted send whose process died before its job was tried. */
export async function leaveSend(
  database: Database,
  { key, body, mail }: { readonly key?: string | undefined; readonly body: unknown; readonly mail: Mail },
): Promise<string> {
  const jobs = createJobs({ database, log: createLog({ level: 'silent' }) });
  const id = randomUUID();
  await transaction(database.queries<NotifyTables>(), async (tx) => {
    const bodyDigest = hash('sha256', JSON.stringify(body));
    await insertSend(tx, { id, endpoint: 'emails', key, bodyDigest, content: { mail } });
    await jobs.enqueue(tx, sendQueue, { sendId: id }, { key: id });
  });
  return id;
}

export const newKey = () => ({ 'idempotency-key': randomUUID() });

export interface NotifyPair {
  readonly database: Database;
  readonly channel: TestChannel;
  readonly rigs: readonly [NotifyRig, NotifyRig];
  /** Empties the channel and removes its obstacle. */
  reset(): void;
  close(): Promise<void>;
}

/** Two services on one database, which cannot distinguish them from two processes. */
export async function startNotifyPair(engine: DatabaseEngine): Promise<NotifyPair> {
  const database = await engine.open(migrations);
  const channel = createTestChannel();
  const rigs = [await startNotify(database, channel), await startNotify(database, channel)] as const;
  return {
    database,
    channel,
    rigs,
    reset() {
      channel.sent.length = 0;
      channel.obstruct(async () => undefined);
    },
    async close() {
      for (const rig of rigs) await rig.close();
      await database.close();
    },
  };
}
