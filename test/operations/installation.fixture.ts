/** A complete, used installation and its responses, for the tests of backups and of the move. */
import { createHash, randomUUID } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { decodeJwt } from 'jose';
import { readConfig } from '#app/config.ts';
import { signInThroughBrowser } from '#commands/demo.ts';
import { type Place, type Program, run } from '../acceptance/running.fixture.ts';
import { chatter } from '../agent/rig.fixture.ts';
import { makeImage } from '../media/images.fixture.ts';

/** Programs start slowly on a busy machine. */
export const limitMs = 240_000;

/** The ids that are needed to read the data again. */
export interface Traces {
  readonly token: string;
  readonly internalKey: string;
  readonly userId: string;
  readonly threadId: string;
  readonly mail: Readonly<Record<string, string>>;
  readonly mailKey: string;
}

type JsonObject = Readonly<Record<string, unknown>>;

const services = ['media', 'image', 'auth', 'agent', 'memory', 'notify', 'edge', 'idp'];

/** Starts the services with data at the place, runs `work`, and stops them cleanly. */
export async function whileRunning<Result>(
  place: Place,
  env: Readonly<Record<string, string>>,
  work: () => Promise<Result>,
): Promise<Result> {
  const program = run('start', services, { ...place.env, ...env });
  try {
    await program.waitFor('Atelier is ready', limitMs);
    return await work();
  } finally {
    await end(program);
  }
}

async function end(program: Program): Promise<void> {
  program.child.kill('SIGTERM');
  await program.ended(limitMs);
}

const at = ({ portBase }: Place, offset: number, path: string) => `http://localhost:${portBase + offset}${path}`;

async function call(url: string, headers: Record<string, string>, body?: unknown): Promise<JsonObject> {
  const answer = await fetch(url, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    body: body === undefined ? null : JSON.stringify(body),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${url} returned ${answer.status}: ${text}`);
  return JSON.parse(text);
}

const bearer = ({ token }: Pick<Traces, 'token'>) => ({ authorization: `Bearer ${token}` });

/** Creates a user with images, a copy, a legacy file, memories, a chat with a generated image, and a mail. */
export async function use(place: Place): Promise<Traces> {
  const config = readConfig(place.env, []);
  const { accessToken: token } = await signInThroughBrowser(config, 'ada@example.com');
  const [internalKey = ''] = config.internal.keys;
  const userId = String(decodeJwt(token).sub);
  const traces = {
    token,
    internalKey,
    userId,
    threadId: `t-${randomUUID()}`,
    mail: { from: 'a@example.com', to: 'ada@example.com', subject: 'Hello', text: 'Hello Ada' },
    mailKey: randomUUID(),
  };
  const assetId = await upload(place, traces, 1);
  await upload(place, traces, 2);
  await call(at(place, 1, '/v1/copy'), bearer(traces), {
    fromAssetId: assetId,
    toScopeKind: 'feed',
    toScopeId: 'front',
  });
  const legacy = join(place.dataDir, 'legacy/agent_message/old');
  await mkdir(legacy, { recursive: true });
  await writeFile(join(legacy, 'image.png'), await makeImage('png', { seed: 3 }));
  const scope = { ownerId: userId, scopeKind: 'thread', scopeId: 'old' };
  await call(at(place, 1, '/v1/assets/legacy'), { 'x-internal-key': internalKey }, { ...scope, path: 'old/image.png' });
  for (const content of ['I like lighthouses', 'I LIKE LIGHTHOUSES!', 'My dog is afraid of thunder'])
    await call(at(place, 5, '/memory/add'), bearer(traces), {
      entity_id: userId,
      entity_type: 'user',
      type: 'preference',
      content,
    });
  const chat = chatter(at(place, 4, ''), userId, bearer(traces));
  await chat.ended(await chat.ask(traces.threadId, 'Make an image of a lighthouse\u2028by "night"\\'));
  await sendMail(place, traces);
  return traces;
}

async function upload(place: Place, traces: Traces, seed: number): Promise<string> {
  const scope = { scopeKind: 'thread', scopeId: 't1', kind: 'image', mime: 'image/png' };
  const reservation = await call(at(place, 1, '/v1/uploads'), bearer(traces), scope);
  const put = await fetch(String(reservation.uploadUrl), {
    method: 'PUT',
    headers: reservation.headers as Record<string, string>,
    body: new Uint8Array(await makeImage('png', { seed, width: 400, height: 300 })),
  });
  if (!put.ok) throw new Error(`the upload returned ${put.status}`);
  const { assetId } = reservation;
  await call(at(place, 1, '/v1/assets'), bearer(traces), { assetId, ...scope });
  return String(assetId);
}

const sendMail = (place: Place, { internalKey, mail, mailKey }: Traces) =>
  call(at(place, 7, '/emails'), { 'x-internal-key': internalKey, 'idempotency-key': mailKey }, mail);

/** Returns what users see, without values that change over time: the bytes of every image, once in full and once resized. */
export async function snapshotOf(place: Place, traces: Traces) {
  const { assets } = await call(at(place, 1, '/v1/assets?limit=50'), bearer(traces));
  const refs = (assets as readonly JsonObject[]).map(({ assetId }) => String(assetId)).sort();
  const signed = await call(at(place, 1, '/v1/sign/image'), bearer(traces), { refs });
  const images = await Promise.all(
    refs.map(async (ref) => {
      const { url, previewUrl } = signed[ref] as JsonObject;
      return [await open(url), await open(previewUrl).then(({ status }) => status)];
    }),
  );
  const chat = chatter(at(place, 4, ''), traces.userId, bearer(traces));
  const messages = JSON.parse(
    JSON.stringify(await chat.messages(traces.threadId), (name, value) => (/url$/i.test(name) ? null : value)),
  );
  const user = { entity_id: traces.userId, entity_type: 'user' };
  const { memories } = await call(at(place, 5, '/memory/search'), bearer(traces), { ...user, query: 'lighthouses' });
  // The score decreases over time.
  const remembered = (memories as readonly JsonObject[]).map(({ score, ...memory }) => memory);
  // The mail was sent once: the response is the same, and there is no second mail.
  return { assets, images, messages, remembered, mail: await sendMail(place, traces) };
}

async function open(url: unknown) {
  const answer = await fetch(String(url));
  const digest = createHash('sha256')
    .update(new Uint8Array(await answer.arrayBuffer()))
    .digest('hex');
  return { status: answer.status, digest };
}
