import { afterAll, expect, it } from 'vitest';
import { z } from 'zod';
import { createLog } from '../log.ts';
import { routesOf } from './routes.ts';
import { createServer } from './server.ts';

const app = createServer({ service: 'media', log: createLog({ level: 'silent' }), readiness: {} });
const routes = routesOf(app, 'things');
let deleted = 0;
const handler = async () => {
  deleted += 1;
  return {};
};
routes.delete('/all', {}, { summary: 'Delete all', handler });
const body = z.strictObject({ kind: z.string().optional(), of: z.strictObject({ id: z.string() }).optional() });
routes.delete('/some', {}, { summary: 'Delete some', body, handler });
afterAll(() => app.close());

it.each<[string, object, readonly string[]]>([
  ['/all', { threadId: '1' }, ['body.threadId']],
  ['/some', { Kind: 'a', id: 1 }, ['body.Kind', 'body.id']],
  ['/some', { kind: 'a', of: { id: '1', ID: '2' } }, ['body.of.ID']],
])('DELETE %s refuses unknown fields and names each', async (url, payload, paths) => {
  const before = deleted;
  const response = await app.inject({ method: 'DELETE', url, payload });
  const { error, message, issues } = response.json<{ error: string; message: string; issues: { path: string }[] }>();
  expect([response.statusCode, error, issues.map(({ path }) => path)]).toEqual([400, 'invalid_request', paths]);
  for (const path of paths) expect(message).toContain(path);
  expect(deleted).toBe(before);
});

it.each([
  ['/all', undefined],
  ['/all', {}],
  ['/some', {}],
  ['/some', { kind: 'a' }],
] as const)('DELETE %s accepts %j', async (url, payload) => {
  expect((await app.inject({ method: 'DELETE', url, ...(payload && { payload }) })).statusCode).toBe(200);
});
