/** A whole instance publishes webhooks, and a process that is killed loses none (docs/specification/webhooks.md). */
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { newLanePlace, type Place, type Program, run } from '../acceptance/running.fixture.ts';
import { startReceiver } from './receiver.fixture.ts';

const limitMs = 120_000;
const secret = `whsec_${randomBytes(32).toString('base64')}`;
let place: Place;
let receiver: Awaited<ReturnType<typeof startReceiver>>;
let program: Program | undefined;

beforeAll(async () => {
  place = await newLanePlace();
  receiver = await startReceiver(secret);
});
afterAll(async () => {
  program?.child.kill('SIGTERM');
  await program?.ended(limitMs);
  await receiver.close();
  await place.remove();
});

const settings = () => ({
  ...place.env,
  WEBHOOK_URL: receiver.url,
  WEBHOOK_SECRET: secret,
  AGENT_TOOL_APPROVAL: '{"saveMemory":true}',
});

async function start(): Promise<void> {
  program = run('start', ['agent', 'memory', 'media', 'edge', 'auth', 'idp'], settings());
  await program.waitFor('Atelier is ready', limitMs);
}

async function newToken(): Promise<string> {
  const token = run('token', [], place.env);
  expect(await token.ended(limitMs), token.output()).toBe(0);
  return token.output().trim();
}

async function converse(token: string, threadId: string, text: string): Promise<string> {
  const agent = `http://127.0.0.1:${place.portBase + 4}`;
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const started = await fetch(`${agent}/task`, { method: 'POST', headers, body: JSON.stringify({ threadId, text }) });
  const { taskId } = (await started.json()) as { readonly taskId: string };
  await (await fetch(`${agent}/stream/${taskId}`, { headers })).text();
  return taskId;
}

interface Event {
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}
const events = () => receiver.received.map(({ event }) => event as Event);
const ofType = (type: string) => events().filter((event) => event?.type === type);

it('publishes an account once, an image and the end of its run', { timeout: 3 * limitMs }, async () => {
  await start();
  const token = await newToken();
  await newToken();
  const taskId = await converse(token, 'first', 'Please draw an image of a bee');
  await expect.poll(() => ofType('run.ended').length, { timeout: limitMs }).toBe(1);
  const [account] = ofType('account.created');
  expect(account?.data).toEqual({ userId: expect.any(String), email: expect.stringContaining('@') });
  const facts = { taskId, threadId: 'first', userId: account?.data.userId };
  expect(ofType('run.ended').map(({ data }) => data)).toEqual([{ ...facts, status: 'completed' }]);
  expect(ofType('media.completed').map(({ data }) => data)).toEqual([
    { ...facts, assetId: expect.any(String), kind: 'image' },
  ]);
  expect(ofType('account.created')).toHaveLength(1);
  expect(events()).not.toContain(undefined);
});

it('asks people who are away', { timeout: 3 * limitMs }, async () => {
  const taskId = await converse(await newToken(), 'asking', 'Remember that I am fond of evenings');
  await expect.poll(() => ofType('approval.requested').length, { timeout: limitMs }).toBe(1);
  const [asked] = ofType('approval.requested');
  const call = { approvalId: expect.any(String), toolCallId: expect.any(String), toolName: 'saveMemory', credits: 0 };
  expect(asked?.data).toEqual({ taskId, threadId: 'asking', userId: expect.any(String), ...call });
});

it('delivers the events that a killed process published', { timeout: 3 * limitMs }, async () => {
  const token = await newToken();
  receiver.answerWith({ status: 503 });
  const taskId = await converse(token, 'second', 'Hello');
  // A launcher that waits forwards signals but not SIGKILL, so the program itself is killed.
  process.kill(await pidOfProgram(), 'SIGKILL');
  await program?.ended(limitMs);
  receiver.answerWith({ status: 204 });
  await start();
  const isDelivered = () => ofType('run.ended').some(({ data }) => data.taskId === taskId);
  await expect.poll(isDelivered, { timeout: limitMs }).toBe(true);
});

/** The only child process of the launcher, or the process that replaced it. */
async function pidOfProgram(): Promise<number> {
  const pid = program?.child.pid;
  if (pid === undefined) throw new Error('the program does not run');
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8');
  return Number(children.trim().split(' ')[0]) || pid;
}
