import { once } from 'node:events';
import net from 'node:net';
import { PassThrough } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import pg from 'pg';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createPostgresDatabase, databaseEngines } from '../../../test/database.fixture.ts';
import { ConfigFault } from '../config.ts';
import { createLog } from '../log.ts';
import { type Database, type Db, transaction } from './db.ts';
import { openPostgres, probePostgres } from './postgres.ts';

interface Tables {
  rows: { id: number };
}

const missing = databaseEngines.some((engine) => engine.name === 'postgres' && engine.missing);
const quiet = createLog({ level: 'silent' });
const unavailable = { code: 'engine_unavailable', status: 503 };

let url: string;
let drop: () => Promise<void>;
let admin: pg.Client;
const cleanUps: (() => Promise<unknown>)[] = [];

async function open(address = url, poolSize = 4, log = quiet): Promise<{ database: Database; db: Db<Tables> }> {
  const database = await openPostgres({ url: address, poolSize, migrations: [], log });
  cleanUps.push(() => database.close());
  return { database, db: database.queries<Tables>() };
}

/** Ends every connection of the tested code from the server's side. */
async function terminateAll(): Promise<void> {
  await admin.query(`select pg_terminate_backend(pid) from pg_stat_activity
    where application_name = 'atelier' and datname = current_database()`);
}

/** Resolves when a statement containing `text` runs on the server. */
async function untilRunning(text: string): Promise<void> {
  const query = `select 1 from pg_stat_activity where state = 'active' and application_name = 'atelier' and query like $1`;
  while ((await admin.query(query, [`%${text}%`])).rowCount === 0) await sleep(5);
}

beforeAll(async () => {
  if (missing) return;
  ({ url, drop } = await createPostgresDatabase());
  admin = new pg.Client({ connectionString: url });
  await admin.connect();
  await admin.query('create table rows (id int)');
});
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
  if (!missing) await admin.query('truncate rows');
});
afterAll(async () => {
  if (missing) return;
  await admin.end();
  await drop();
});

describe.skipIf(missing)('connections to PostgreSQL that break', () => {
  it('while they are idle: no caller notices', async () => {
    const { db } = await open();
    for (let round = 0; round < 5; round += 1) {
      await Promise.all([1, 2, 3, 4].map(() => db.selectFrom('rows').select('id').execute()));
      await terminateAll();
      await Promise.all([1, 2, 3, 4].map(() => db.selectFrom('rows').select('id').execute()));
      await terminateAll();
      await transaction(db, (tx) => tx.insertInto('rows').values({ id: round }).execute());
    }
    expect(await db.selectFrom('rows').select('id').execute()).toHaveLength(5);
  });

  it('under a plain read: it is repeated', async () => {
    const { db } = await open(url, 1);
    const reading = db
      .selectFrom(sql`pg_sleep(0.3)`.as('nap'))
      .select(sql<number>`count(*)`.as('n'))
      .executeTakeFirstOrThrow();
    await untilRunning('pg_sleep(0.3)');
    await terminateAll();
    await expect(reading).resolves.toEqual({ n: 1 });
  });

  it('during a write: the caller gets an error, and it is not retried', async () => {
    const { db } = await open();
    const writing = sql`insert into rows select 1 from pg_sleep(0.3)`.execute(db);
    const expected = expect(writing).rejects.toMatchObject(unavailable);
    await untilRunning('pg_sleep(0.3)');
    await terminateAll();
    await expected;
    expect(await db.selectFrom('rows').select('id').execute()).toEqual([]);
  });

  it('in a transaction, between two statements: rolled back, and the caller gets an error', async () => {
    const { db } = await open();
    const attempt = transaction(db, async (tx) => {
      await tx.insertInto('rows').values({ id: 1 }).execute();
      await terminateAll();
      await sleep(50);
      await tx.selectFrom('rows').select('id').execute();
    });
    await expect(attempt).rejects.toMatchObject(unavailable);
    expect(await db.selectFrom('rows').select('id').execute()).toEqual([]);
  });

  it('at the commit: the caller gets an error', async () => {
    const { db } = await open();
    const attempt = transaction(db, async (tx) => {
      await tx.insertInto('rows').values({ id: 1 }).execute();
      await terminateAll();
    });
    await expect(attempt).rejects.toMatchObject(unavailable);
    expect(await db.selectFrom('rows').select('id').execute()).toEqual([]);
  });

  it('are logged without the password', async () => {
    const lines: string[] = [];
    const log = pino(
      {},
      new PassThrough().on('data', (line) => lines.push(String(line))),
    );
    const address = new URL(url);
    address.password = 'hush-hush';
    const { db } = await open(address.href, 1, log);
    await db.selectFrom('rows').select('id').execute();
    await terminateAll();
    await expect.poll(() => lines.join('')).toContain('an idle database connection broke');
    expect(lines.join('')).not.toContain('hush-hush');
  });
});

async function untilItWorks(work: () => Promise<unknown>): Promise<void> {
  for (;;) {
    try {
      await work();
      return;
    } catch {
      // Not yet.
      await sleep(50);
    }
  }
}

/** A way to the server that can be cut, closed, or made to swallow everything. */
async function startProxy() {
  const target = new URL(url);
  const sockets = new Set<net.Socket>();
  let silent = false;
  const server = net.createServer((near) => {
    const far = net.connect(Number(target.port || 5432), target.hostname);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.on('data', (chunk) => silent || to.write(chunk));
      from.on('error', () => to.destroy());
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as net.AddressInfo;
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  cleanUps.push(async () => {
    cut();
    server.close();
  });
  const address = new URL(url);
  address.host = `127.0.0.1:${port}`;
  return {
    url: address.href,
    cut,
    refuse: () => {
      server.close();
      cut();
    },
    accept: async () => {
      server.listen(port, '127.0.0.1');
      await once(server, 'listening');
    },
    swallow: (value: boolean) => {
      silent = value;
    },
  };
}

describe.skipIf(missing)('a PostgreSQL server that is down', () => {
  it('refusing connections: engine_unavailable, and all is well on its return', async () => {
    const proxy = await startProxy();
    const { database, db } = await open(proxy.url);
    await database.check();
    proxy.refuse();
    await expect(database.check()).rejects.toMatchObject(unavailable);
    const writes = [1, 2, 3].map((id) => db.insertInto('rows').values({ id }).execute());
    for (const { status } of await Promise.allSettled(writes)) expect(status).toBe('rejected');
    await proxy.accept();
    await untilItWorks(() => database.check());
    await db.insertInto('rows').values({ id: 4 }).execute();
    expect(await db.selectFrom('rows').select('id').execute()).toEqual([{ id: 4 }]);
  });

  it('for a moment: reads and transactions go through', async () => {
    const proxy = await startProxy();
    const { db } = await open(proxy.url);
    await db.selectFrom('rows').select('id').execute();
    proxy.cut();
    await transaction(db, (tx) => tx.insertInto('rows').values({ id: 1 }).execute());
    proxy.cut();
    expect(await db.selectFrom('rows').select('id').execute()).toEqual([{ id: 1 }]);
  });

  it('swallowing everything: engine_unavailable on old connections and new ones, and all is well on its return', async () => {
    const proxy = await startProxy();
    const { database, db } = await open(proxy.url, 2);
    await database.check();
    proxy.swallow(true);
    const answers = await Promise.allSettled([
      database.check(),
      db.insertInto('rows').values({ id: 1 }).execute(),
      transaction(db, (tx) => tx.insertInto('rows').values({ id: 2 }).execute()),
    ]);
    expect(answers.map((answer) => answer.status === 'rejected' && answer.reason.status)).toEqual([503, 503, 503]);
    await expect(database.check()).rejects.toMatchObject(unavailable);
    proxy.swallow(false);
    proxy.cut();
    await untilItWorks(() => database.check());
    expect(await db.selectFrom('rows').select('id').execute()).toEqual([]);
  });
});

describe.skipIf(missing)('limits on PostgreSQL', () => {
  it('ends a statement that runs too long', async () => {
    const { database, db } = await open();
    const answer = await sql`select pg_sleep(30)`.execute(db).catch((error: unknown) => error);
    expect(answer).toMatchObject({ ...unavailable, cause: { code: '57014' } });
    await database.check();
  });

  it('opens no more connections than the pool has, and serves all', async () => {
    const { db } = await open(url, 3);
    const counts = await Promise.all(
      Array.from({ length: 30 }, () =>
        sql<{ n: number }>`select count(*) as n, pg_sleep(0.01) from pg_stat_activity
          where application_name = 'atelier' and datname = current_database()`.execute(db),
      ),
    );
    expect(counts).toHaveLength(30);
    expect(Math.max(...counts.map(({ rows }) => rows[0]?.n ?? 0))).toBeLessThanOrEqual(3);
  });

  it('rejects a query as overloaded if it waits too long for a connection', async () => {
    const { db } = await open(url, 1);
    const { promise: held, resolve: letGo } = Promise.withResolvers<void>();
    const holding = transaction(db, () => held);
    await expect(db.selectFrom('rows').select('id').execute()).rejects.toMatchObject({ code: 'overloaded' });
    letGo();
    await holding;
    expect(await db.selectFrom('rows').select('id').execute()).toEqual([]);
  });

  it('returns a retryable error to one of two in a deadlock', async () => {
    const { db } = await open();
    await db
      .insertInto('rows')
      .values([{ id: 1 }, { id: 2 }])
      .execute();
    const lock = (tx: Db<Tables>, id: number) =>
      tx.selectFrom('rows').select('id').where('id', '=', id).forUpdate().execute();
    const bothLocked = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const cross = (mine: number, other: number) =>
      transaction(db, async (tx) => {
        await lock(tx, mine);
        bothLocked[mine - 1]?.resolve();
        await bothLocked[other - 1]?.promise;
        await lock(tx, other);
      });
    const answers = await Promise.allSettled([cross(1, 2), cross(2, 1)]);
    const refused = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason] : []));
    expect(refused).toMatchObject([{ ...unavailable, cause: { code: '40P01' } }]);
  });
});

describe.skipIf(missing)('opening PostgreSQL', () => {
  const fault = (address: string): Promise<unknown> => open(address).catch((error: unknown) => error);

  it.each([
    ['nobody listens', { port: '1' }, 'ECONNREFUSED'],
    ['nobody listens on any address of a name', { host: 'localhost:1' }, 'ECONNREFUSED'],
    ['the database is not there', { pathname: '/atelier_absent' }, 'does not exist'],
  ])('says in one line what is wrong when %s', async (_, part, reason) => {
    const address = Object.assign(new URL(url), part, { password: 'hush-hush' });
    const error = await fault(address.href);
    expect(error).toBeInstanceOf(ConfigFault);
    expect(String(error)).toMatch(new RegExp(`DATABASE_URL: cannot use the database .*${reason}`));
    expect(String(error)).not.toMatch(/\n|hush-hush/);
  });

  it('reports in one line that its role may not create tables', async () => {
    const role = `atelier_test_${process.pid}`;
    await admin.query(`create role ${role} login`);
    cleanUps.push(() => admin.query(`drop role ${role}`));
    const error = await fault(Object.assign(new URL(url), { username: role }).href);
    expect(String(error)).toMatch(/DATABASE_URL: the database cannot be prepared \(permission denied.*\)/);
  });

  it('can be probed without a change', async () => {
    const { url: untouched, drop: dropUntouched } = await createPostgresDatabase();
    cleanUps.push(dropUntouched);
    await probePostgres(untouched);
    const client = new pg.Client({ connectionString: untouched });
    await client.connect();
    const { rows } = await client.query("select tablename from pg_tables where schemaname = 'public'");
    await client.end();
    expect(rows).toEqual([]);
    await expect(probePostgres(Object.assign(new URL(url), { port: '1' }).href)).rejects.toThrow(
      'cannot use the database',
    );
  });

  it('rejects a database that cannot store every text', async () => {
    const { pathname } = new URL(url);
    const name = `${pathname.slice(1)}_ascii`;
    await admin.query(`create database ${name} encoding 'SQL_ASCII' locale 'C' template template0`);
    cleanUps.push(() => admin.query(`drop database ${name}`));
    const error = await fault(Object.assign(new URL(url), { pathname: `/${name}` }).href);
    expect(String(error)).toContain('encoding is SQL_ASCII, not UTF8');
  });
});

/** Refuses `options` in the startup packet, as RDS Proxy does, and passes everything else on. */
async function startRdsProxy(): Promise<string> {
  const target = new URL(url);
  const server = net.createServer((near) => {
    near.on('error', () => undefined);
    near.once('data', (packet) => {
      if (packet.includes('options\0')) {
        const fields = `SERROR\0C0A000\0MFeature not supported: RDS Proxy currently doesn't support command-line options.\0\0`;
        const answer = Buffer.alloc(5 + fields.length);
        answer.write('E');
        answer.writeInt32BE(4 + fields.length, 1);
        answer.write(fields, 5);
        near.end(answer);
        return;
      }
      const far = net.connect(Number(target.port || 5432), target.hostname);
      far.on('error', () => near.destroy());
      far.on('close', () => near.destroy());
      near.on('close', () => far.destroy());
      far.write(packet);
      near.pipe(far).pipe(near);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanUps.push(async () => {
    server.close();
  });
  const { port } = server.address() as net.AddressInfo;
  return Object.assign(new URL(url), { host: `127.0.0.1:${port}` }).href;
}

describe.skipIf(missing)('a pooler that refuses options, as RDS Proxy does', () => {
  it('is used with timeouts in each transaction', async () => {
    const { db } = await open(await startRdsProxy());
    await transaction(db, (tx) => tx.insertInto('rows').values({ id: 1 }).execute());
    const timeout = await transaction(db, async (tx) => {
      const { rows } = await sql<{ value: string }>`select current_setting('statement_timeout') as value`.execute(tx);
      return rows[0]?.value;
    });
    expect(timeout).toBe('5s');
    expect(await db.selectFrom('rows').select('id').execute()).toEqual([{ id: 1 }]);
  });
});

describe.skipIf(missing)('a primary that becomes read-only', () => {
  it('is left: connections are opened again, through the same name', async () => {
    const { db } = await open(url, 2);
    const name = new URL(url).pathname.slice(1);
    const pids = async () => {
      const { rows } = await admin.query<{ pid: number }>(
        `select pid from pg_stat_activity where application_name = 'atelier' and datname = current_database()`,
      );
      return rows.map(({ pid }) => pid);
    };
    await admin.query(`alter database ${name} set default_transaction_read_only = on`);
    await terminateAll();
    await db.selectFrom('rows').select('id').execute();
    const before = await pids();
    expect(before).toHaveLength(1);
    await expect(db.insertInto('rows').values({ id: 1 }).execute()).rejects.toMatchObject(unavailable);
    await admin.query(
      `set default_transaction_read_only = off; alter database ${name} reset default_transaction_read_only`,
    );
    // Open connections are still read-only.
    await db.insertInto('rows').values({ id: 2 }).execute();
    expect(await db.selectFrom('rows').select('id').execute()).toEqual([{ id: 2 }]);
    expect(await pids()).not.toContain(before[0]);
  });
});
