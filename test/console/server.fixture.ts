/** The console's server alone, over a database, with the session of an operator. */
import type { AccountTables } from '#accounts/store.ts';
import type { ConsoleInfo } from '#console/api.ts';
import { type ConsoleDeps, createConsole } from '#console/service.ts';
import type { Database } from '#platform/db/db.ts';
import type { JobTables } from '#platform/jobs/jobs.ts';
import { createLog } from '#platform/log.ts';
import { freePortBase } from '../ports.fixture.ts';

const token = 'a token of the tests';

export interface ConsoleServer {
  readonly url: string;
  /** As the operator, unless `headers` are given. */
  send(method: string, path: string, json?: unknown, headers?: Readonly<Record<string, string>>): Promise<Response>;
  /** Throws unless the response is 200. */
  read<Body>(path: string): Promise<Body>;
  info(): Promise<ConsoleInfo>;
  close(): Promise<void>;
}

export const noSettings: ConsoleDeps['settings'] = {
  describe: () => ({ groups: [], standIns: [], warnings: [] }),
  examine: async () => [],
};

/** All services at one URL. */
export const internalAt = (key: string, url: string) => ({
  key,
  urls: { auth: url, agent: url, media: url, memory: url, notify: url },
});

export async function startConsoleServer(
  database: Database | undefined,
  changes: Partial<ConsoleDeps> = {},
): Promise<ConsoleServer> {
  const port = await freePortBase();
  const url = `http://127.0.0.1:${port}`;
  const app = createConsole({
    server: { log: createLog({ level: 'silent' }) },
    clock: { now: () => Date.now() },
    places: { url, aliases: [url] },
    token,
    brand: 'Atelier',
    services: {},
    addresses: {},
    engines: [],
    reachable: { services: [], media: [], pictures: [] },
    hasDemoUsers: false,
    outbox: undefined,
    cms: {},
    memory: undefined,
    settings: noSettings,
    deliveries: undefined,
    traceUrl: undefined,
    db: database?.queries<JobTables & AccountTables>(),
    // Tests take their own samples.
    sampleEveryMs: 3_600_000,
    ...changes,
  });
  await app.listen({ port, host: '127.0.0.1' });
  let cookie = '';
  const send: ConsoleServer['send'] = (method, path, json, headers = { cookie }) =>
    fetch(url + path, {
      method,
      body: json === undefined ? null : JSON.stringify(json),
      headers: { origin: url, ...(json === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    });
  const session = await send('POST', '/api/session', { token });
  cookie = session.headers.get('set-cookie')?.split(';')[0] ?? '';
  return {
    url,
    send,
    read: async (path) => {
      const response = await send('GET', path);
      if (response.status !== 200) throw new Error(`GET ${path} returned ${response.status}: ${await response.text()}`);
      return JSON.parse(await response.text());
    },
    info: async () => (await send('GET', '/api/console')).json() as Promise<ConsoleInfo>,
    close: () => app.close(),
  };
}
