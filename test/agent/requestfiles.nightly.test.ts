/** The number of files that run for one request, by the coverage that V8 counts in the process of the suite. */
import { randomUUID } from 'node:crypto';
import { Session } from 'node:inspector/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { tokenOf } from '../client/tokens.ts';
import { type ConsoleRig, startConsole } from '../console/rig.fixture.ts';

let rig: ConsoleRig;
let userId: string;
let credential: Readonly<Record<string, string>>;
const session = new Session();

beforeAll(async () => {
  rig = await startConsole({}, ['media', 'image', 'agent', 'memory', 'content', 'edge', 'idp', 'cms']);
  const token = await tokenOf(rig, 'reader@example.com');
  userId = String(JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()).sub);
  credential = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
});
afterAll(async () => {
  session.disconnect();
  await rig.close();
});

/** Returns the files of src/ of which a function has run since the last call. */
async function filesThatRan(): Promise<readonly string[]> {
  const { result } = await session.post('Profiler.takePreciseCoverage');
  return result
    .filter(({ functions }) => functions.some(({ ranges }) => ranges.some(({ count }) => count > 0)))
    .flatMap(({ url }) => /\/modules\/[^/]+\/(?!chunks\/)(.+)\.mjs$/.exec(url)?.[1] ?? [])
    .toSorted();
}

async function post(url: string, body: object): Promise<Response> {
  const response = await fetch(url, { method: 'POST', headers: credential, body: JSON.stringify(body) });
  expect(response.status).toBeLessThan(300);
  return response;
}

async function chat(): Promise<void> {
  const { agent } = rig.addresses;
  const task = await post(`${agent}/task`, { threadId: randomUUID(), text: 'Name a color.' });
  const { taskId } = (await task.json()) as { readonly taskId: string };
  const stream = await fetch(`${agent}/stream/${taskId}`, { headers: credential });
  expect(await stream.text()).toContain('[DONE]');
}

let count = 0;
async function remember(): Promise<void> {
  count += 1;
  const body = { entity_type: 'user', entity_id: userId, content: `Prefers tea in cup ${count}`, type: 'preference' };
  await (await post(`${rig.addresses.memory}/memory/add`, body)).json();
}

it.each([
  { name: 'POST /memory/add', request: remember, most: 35 },
  { name: 'POST /task and its stream', request: chat, most: 78 },
])('$name runs at most $most files', async ({ request, most }) => {
  await request();
  const ran: (readonly string[])[] = [];
  for (const _ of Array(3)) {
    await filesThatRan();
    await request();
    ran.push(await filesThatRan());
  }
  // Background work and later requests run files of their own.
  const [first = [], ...others] = ran;
  const files = first.filter((file) => others.every((other) => other.includes(file)));
  expect(files.length, files.join('\n')).toBeGreaterThan(10);
  expect(files.length, files.join('\n')).toBeLessThanOrEqual(most);
});
