/** A notification service for tests, and a channel that a test can look into and make fail. */
import { randomUUID } from 'node:crypto';
import type { Channel } from '#notify/channels/channel.ts';
import type { Mail } from '#notify/mail.ts';
import { createNotify } from '#notify/service.ts';
import type { Database } from '#platform/db/db.ts';
import type { HttpServer } from '#platform/http/server.ts';
import { createLog, type Log } from '#platform/log.ts';

export const internalKey = 'the internal key';

/** What goes out lies in memory; a test may put something in the way of it. */
export interface TestChannel extends Channel {
  readonly sent: { readonly id: string; readonly mail: Mail }[];
  obstruct(obstacle: (signal: AbortSignal) => Promise<void>): void;
}

export function createTestChannel(): TestChannel {
  const sent: { id: string; mail: Mail }[] = [];
  let obstacle: (signal: AbortSignal) => Promise<void> = async () => undefined;
  return {
    name: 'outbox',
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
  }: { readonly internalKeys?: readonly string[]; readonly log?: Log } = {},
): Promise<NotifyRig> {
  const app = await createNotify({
    server: { log, readiness: {} },
    internalKeys,
    database,
    channel,
    from: 'Atelier <noreply@example.com>',
    appUrl: 'https://app.example.com',
    unsubscribeUrl: 'https://content.example.com/unsubscribe',
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
      return { status: response.status, body: (await response.json()) as Answer['body'] };
    },
    async call(method, path) {
      const response = await fetch(url + path, { method, headers: { 'x-internal-key': internalKey } });
      const text = await response.text();
      return { status: response.status, body: JSON.parse(text || '{}') as Answer['body'] };
    },
    close: () => app.close(),
  };
}

export const newKey = () => ({ 'idempotency-key': randomUUID() });
