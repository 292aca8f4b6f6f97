/** What a person leaves in every service and engine, and the search for it. */
import { randomUUID } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { sql } from 'kysely';
import { expect } from 'vitest';
import { systemClock } from '#platform/clock.ts';
import type { Database } from '#platform/db/db.ts';
import { createS3Client } from '#platform/objects/s3/client.ts';
import { initiateMultipart } from '#platform/objects/s3/multipart.ts';
import { openS3Store } from '#platform/objects/s3/s3.ts';
import type { Redis } from '#platform/redis/redis.ts';
import { makeImage } from '../media/images.fixture.ts';
import { testServer } from '../platform/objects/s3.fixture.ts';
import type { Desk, Person } from './desk.fixture.ts';
import type { ConsoleRig } from './rig.fixture.ts';

export interface Place {
  readonly rig: Pick<ConsoleRig, 'dataDir'>;
  readonly desk: Desk;
  readonly database: Database;
  readonly redis: { readonly connection: Redis; readonly prefix: string };
  /** Of the S3 server. */
  readonly buckets: readonly string[];
}

interface Upload {
  readonly uploadUrl: string;
  readonly headers?: Readonly<Record<string, string>>;
}

type Names = (text: string) => boolean;

/** A word of the person's texts, by which they are found where nothing names the person. */
const wordOf = ({ id }: Person) => `bees${id.slice(0, 8)}`;

export const mailTo = (person: Person) => ({
  from: 'Atelier <hello@example.com>',
  to: [`A Person <${person.email}>`],
  subject: 'Hello',
  text: `For ${person.id}, about ${wordOf(person)}`,
  tags: [{ name: 'user', value: person.id }],
});

export interface Traces {
  readonly threadId: string;
  readonly taskId: string;
  /** The asset of another person that this one reported. */
  readonly reportedId: string;
}

/** Something about the person in every service. */
export async function leaveTraces(
  { rig, desk, database }: Omit<Place, 'redis' | 'buckets'>,
  person: Person,
): Promise<Traces> {
  const threadId = `thread-${randomUUID()}`;
  const place = { assetId: randomUUID(), scopeKind: 'thread', scopeId: person.id, kind: 'image', mime: 'image/png' };
  await uploadImage(person, place);
  expect((await person.call('media', 'POST', '/v1/assets', place)).status).toBe(201);
  // An upload that is not registered.
  await uploadImage(person, { ...place, assetId: randomUUID() });
  const text = `Remember that I like ${wordOf(person)} and make an image. I am ${person.email}.`;
  const say = async (words: string, rewindTo?: string) => {
    const message = { id: rewindTo ?? randomUUID(), role: 'user', parts: [{ type: 'text', text: words }] };
    const started = await person.call<{ taskId: string }>('agent', 'POST', '/task', { threadId, message, rewindTo });
    expect(started.status).toBe(201);
    const state = async () => (await person.call('agent', 'GET', `/task/${started.body.taskId}`)).body.status;
    await expect.poll(state, { timeout: 60_000 }).toBe('completed');
    return { messageId: message.id, started };
  };
  const { messageId } = await say(`A first version about ${wordOf(person)}`);
  const { started } = await say(text, messageId);
  await person.call('media', 'POST', '/v1/sign/image', { refs: [place.assetId] });
  const shared = { assetId: place.assetId };
  expect((await person.call('media', 'POST', '/v1/shares', shared)).status).toBe(201);
  const prompt = `Bees like ${wordOf(person)}`;
  expect((await person.call('agent', 'POST', '/images', { prompt })).status).toBe(202);
  // It is not made before the person is erased.
  const video = { prompt: `Waves for ${wordOf(person)}` };
  const plan = { changeId: randomUUID(), plan: 'max', credits: 500, reason: wordOf(person) };
  expect((await desk.internal('auth', 'POST', `/v1/people/${person.id}/credits`, plan)).status).toBe(200);
  expect((await person.call('agent', 'POST', '/videos', video)).status).toBe(202);
  const content = `I live near the sea with ${wordOf(person)}`;
  const memory = { entity_id: person.id, entity_type: 'user', content, type: 'preference' };
  expect((await person.call('memory', 'POST', '/memory/add', memory)).status).toBeLessThan(300);
  expect((await desk.internal('notify', 'POST', '/emails', mailTo(person))).status).toBe(200);
  const other = await desk.person();
  const published = { ...place, assetId: randomUUID(), scopeKind: 'feed', scopeId: 'posts' };
  await uploadImage(other, published);
  expect((await other.call('media', 'POST', '/v1/assets', published)).status).toBe(201);
  const report = { assetId: published.assetId, reason: 'spam', note: wordOf(person) };
  expect((await person.call('media', 'POST', '/v1/reports', report)).status).toBe(201);
  await sql`insert into referrals (inviter_id, invitee_id) values (${other.id}, ${person.id})`.execute(
    database.queries(),
  );
  await sql`insert into user_settings (user_id) values (${person.id})`.execute(database.queries());
  await sql`insert into suppressed_addresses (address, reason) values (${person.email}, 'no mailbox')`.execute(
    database.queries(),
  );
  await writeFile(join(rig.dataDir, 'outbox', 'another.eml'), 'To: nobody@example.com\r\n\r\nHello');
  return { threadId, taskId: started.body.taskId, reportedId: published.assetId };
}

async function uploadImage(person: Person, asset: Readonly<Record<string, string>>): Promise<void> {
  const { body } = await person.call<Upload>('media', 'POST', '/v1/uploads', asset);
  const headers = new Headers(body.headers);
  headers.set('content-type', 'image/png');
  const put = await fetch(body.uploadUrl, { method: 'PUT', body: new Uint8Array(await makeImage('png')), headers });
  expect(put.ok).toBe(true);
}

/**
 * Everything that names the person, their thread or their run, or has a word of their texts: rows of every table, keys and values of
 * Redis, names and contents of files and objects.
 */
export async function findTraces(
  place: Place,
  person: Person,
  { threadId, taskId }: Traces,
): Promise<readonly string[]> {
  const sought = [person.id, person.email, wordOf(person), threadId, taskId];
  const names = (text: string) => sought.some((part) => text.toLowerCase().includes(part));
  const objects = await Promise.all(place.buckets.map((bucket) => objectsThat(bucket, names)));
  return [
    ...(await rowsThat(place.database, names)),
    ...(await keysThat(place.redis, names)),
    ...(await filesThat(place.rig.dataDir, names)),
    ...objects.flat(),
  ];
}

async function rowsThat(database: Database, names: Names): Promise<readonly string[]> {
  const db = database.queries();
  const { rows: tables } = await sql<{ name: string }>`
    select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'
  `.execute(db);
  const found: string[] = [];
  for (const { name } of tables) {
    const { rows } = await sql<{
      text: string;
    }>`select row_to_json(t)::text as text from ${sql.table(name)} as t`.execute(db);
    found.push(...rows.filter(({ text }) => names(text)).map(({ text }) => `${name}: ${text.slice(0, 300)}`));
  }
  return found;
}

/** Reads a whole value. `DUMP` would compress it. */
const commands: Readonly<Record<string, (key: string) => readonly string[]>> = {
  string: (key) => ['GET', key],
  hash: (key) => ['HGETALL', key],
  list: (key) => ['LRANGE', key, '0', '-1'],
  set: (key) => ['SMEMBERS', key],
  zset: (key) => ['ZRANGE', key, '0', '-1', 'WITHSCORES'],
  stream: (key) => ['XRANGE', key, '-', '+'],
};

async function keysThat({ connection, prefix }: Place['redis'], names: Names): Promise<readonly string[]> {
  const found: string[] = [];
  await connection.run(async (client) => {
    for await (const keys of client.scanIterator({ MATCH: `${prefix}*`, COUNT: 1000 }))
      for (const key of keys) {
        const command = commands[String(await client.sendCommand(['TYPE', key]))];
        const value = JSON.stringify(command && (await client.sendCommand([...command(key)])));
        if (value === undefined || names(key) || names(value)) found.push(`redis: ${key}: ${value?.slice(0, 300)}`);
      }
  }, 10_000);
  return found;
}

async function filesThat(folder: string, names: Names): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const found: string[] = [];
  for (const entry of entries) {
    const path = join(entry.parentPath, entry.name);
    // Files that arrive are moved away in between.
    const text = entry.isFile() ? await readFile(path, 'latin1').catch(unlessGone) : '';
    if (names(path) || names(text)) found.push(`file: ${path}`);
  }
  return found;
}

function unlessGone(error: NodeJS.ErrnoException): string {
  if (error.code !== 'ENOENT') throw error;
  return '';
}

/** Current and earlier versions, and unfinished multipart uploads. */
async function objectsThat(bucket: string, names: Names): Promise<readonly string[]> {
  const client = createS3Client({ ...testServer, clock: systemClock });
  const store = openS3Store({ ...testServer, clock: systemClock });
  const found: string[] = [];
  try {
    for (const what of ['versions', 'uploads']) {
      const query = { [what]: '' };
      const list = await client.call({ method: 'GET', bucket, query, repeat: 'always' }, ({ body }) => body.text());
      const keys = [...list.matchAll(/<Key>([^<]*)<\/Key>/g)].map(([, key]) => decodeURIComponent(key ?? ''));
      found.push(...keys.filter(names).map((key) => `${what} of ${bucket}: ${key}`));
    }
    for await (const { key } of store.bucket(bucket).list('')) {
      const object = await store.bucket(bucket).get(key);
      const bytes = object && (await buffer(object.stream));
      if (bytes !== undefined && names(bytes.toString('latin1'))) found.push(`object of ${bucket}: ${key}`);
    }
  } finally {
    await Promise.all([client.close(), store.close()]);
  }
  return found;
}

/** Begins an upload that nothing finishes, as a client that went away. */
export async function leaveMultipart(bucket: string, key: string): Promise<void> {
  const client = createS3Client({ ...testServer, clock: systemClock });
  await initiateMultipart({ client, bucket }, key, 'image/png');
  await client.close();
}
