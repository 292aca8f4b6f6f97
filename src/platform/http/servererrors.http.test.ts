import { afterAll, beforeAll, expect, it } from 'vitest';
import { createLog } from '../log.ts';
import { problems } from '../problem.ts';
import { createServer, type HttpServer } from './server.ts';
import { serverErrors } from './servererrors.ts';

let app: HttpServer;
beforeAll(async () => {
  app = createServer({ service: 'media', log: createLog({ level: 'silent' }), readiness: {}, description: '' });
  app.get('/things/:id', async () => Promise.reject(new Error('the secret cause')));
  app.get('/gone', async () => Promise.reject(problems.not_found()));
  await app.ready();
});
afterAll(() => app.close());

const list = async () => serverErrors.parse((await app.inject('/metrics/errors')).json()).errors;

it('lists 5xx responses only, without URL, cause or user', async () => {
  expect(await list()).toEqual([]);
  await app.inject({ url: '/things/7?token=hush', headers: { 'x-request-id': 'r-1' } });
  await app.inject('/gone');
  await app.inject('/nowhere');
  const [error, ...others] = await list();
  expect(others).toEqual([]);
  expect(error).toEqual({
    at: expect.any(String),
    requestId: 'r-1',
    traceId: expect.stringMatching(/^[0-9a-f]{32}$/),
    method: 'GET',
    route: '/things/:id',
    status: 500,
    code: 'internal_error',
  });
  expect(JSON.stringify(error)).not.toMatch(/hush|secret|\/7/);
});

it('lists the newest 50, the newest first', async () => {
  for (let at = 0; at < 60; at += 1) await app.inject({ url: '/things/1', headers: { 'x-request-id': `r-${at}` } });
  const errors = await list();
  expect([errors.length, errors[0]?.requestId, errors.at(-1)?.requestId]).toEqual([50, 'r-59', 'r-10']);
});
