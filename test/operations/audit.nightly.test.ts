/** Operator actions are recorded (docs/monitoring.md): by commands, alone and beside an instance, and over HTTP. */
import { createHash, randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { audit } from '#commands/audit.ts';
import { credits } from '#commands/credits.ts';
import { sweep } from '#commands/sweep.ts';
import { runInProcess } from '../acceptance/inprocess.fixture.ts';
import { newPlace, type Place, type Program, run } from '../acceptance/running.fixture.ts';

/** The machine may be busy. */
const limitMs = 300_000;
let place: Place;
let running: Program | undefined;
let secrets: Readonly<Record<string, string>>;
const entityId = randomUUID();
const content = 'a statement that nobody but the reader may see';

beforeAll(async () => {
  place = await newPlace();
  await perform(credits, ['ada@example.com', 'pro', '5']);
  running = run('start', ['auth', 'media', 'memory', 'edge', 'console', 'idp'], { ...place.env, LOG_LEVEL: 'error' });
  await running.waitFor('Atelier is ready', 280_000);
  secrets = JSON.parse(await readFile(join(place.dataDir, 'secrets.json'), 'utf8'));
}, limitMs);
afterAll(async () => {
  running?.child.kill('SIGTERM');
  await running?.ended(60_000);
  await place.remove();
});

async function perform(command: typeof credits, args: readonly string[], code = 0): Promise<string> {
  const ended = await runInProcess(command, args, place.env);
  expect(ended.code, ended.output).toBe(code);
  return ended.output;
}

async function send(offset: number, method: string, path: string, headers: object, json?: unknown): Promise<Response> {
  const answer = await fetch(`http://localhost:${place.portBase + offset}${path}`, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    ...(json === undefined ? {} : { body: JSON.stringify(json) }),
  });
  return answer;
}

it('records the actor, the action, the target and the outcome, and nothing else', { timeout: limitMs }, async () => {
  await perform(sweep, []);
  await perform(sweep, ['--apply']);
  await perform(credits, ['nobody-at-all@', 'pro', '5'], 1);
  await perform(credits, [entityId, 'free', '7']);
  const admin = { 'x-admin-token': secrets.MEMORY_ADMIN_TOKEN };
  const entity = { entity_id: entityId, entity_type: 'user' };
  const created = await send(5, 'POST', '/admin/memories', admin, { ...entity, type: 'preference', content });
  const { id } = (await created.json()) as { readonly id: string };
  expect((await send(5, 'GET', `/admin/memories/${id}`, admin)).status).toBe(200);
  expect((await send(5, 'PUT', `/admin/memories/${id}`, { 'x-admin-token': 'wrong' }, { content })).status).toBe(401);
  expect((await send(5, 'PUT', `/admin/memories/${randomUUID()}`, admin, { content })).status).toBe(404);

  const origin = `http://localhost:${place.portBase}`;
  const session = await send(0, 'POST', '/api/session', { origin }, { token: secrets.CONSOLE_TOKEN });
  const cookie = session.headers.getSetCookie()[0]?.split(';')[0] ?? '';
  const path = `/api/memory/entities/user/${entityId}`;
  expect((await send(0, 'GET', `${path}/export`, { origin, cookie })).status).toBe(200);
  const erased = await fetch(`${origin}${path}`, {
    method: 'DELETE',
    headers: { origin, cookie, 'x-operator': 'mallory' },
  });
  expect(erased.status).toBe(204);

  const output = await perform(audit, ['100']);
  const lines = output
    .trim()
    .split('\n')
    .map((line) => line.split(/ {2,}/))
    .reverse();
  const me = lines[0]?.[1] ?? '';
  expect(me).not.toBe('');
  expect(
    lines.map(([, actor, action, target = '', outcome]) => [actor, action, target.split(' ')[0], outcome]),
  ).toEqual([
    [me, 'credits', 'sha256', 'done'],
    [me, 'POST /v1/sweep', 'leftovers', '200'],
    [me, 'PUT /v1/accounts/credits', 'sha256', '200'],
    ['unnamed', 'POST /admin/memories', 'memory', '201'],
    ['unnamed', 'PUT /admin/memories/:id', 'memory', '404'],
    ['console', 'GET /admin/entities/:entity_type/:entity_id/export', 'sha256', '200'],
    ['console', 'DELETE /admin/entities/:entity_type/:entity_id', 'sha256', '204'],
  ]);
  for (const [at = '', , , , , requestId] of lines.slice(1)) {
    expect(new Date(at).toISOString()).toBe(at);
    expect(requestId).toMatch(/^[\w.-]+$/);
  }
  expect(lines[3]?.[3]).toBe(`memory ${id}`);
  // A reader who knows the id of the user can verify the hash.
  const [, salt, digest] = lines.at(-1)?.[3]?.split(' ') ?? [];
  expect(createHash('sha256').update(`${salt} ${entityId}`).digest('hex')).toBe(digest);
  for (const secret of [content, entityId, 'ada@example.com', ...Object.values(secrets)])
    expect(output).not.toContain(secret);
});
