/** For arbitrary bytes, the server returns its own response or closes the connection, leaks nothing and keeps running. */
import { connect } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { z } from 'zod';
import { startTestIssuer, type TestIssuer } from '../../../test/platform/tokenissuer.fixture.ts';
import { createAccess } from '../access/access.ts';
import { createLog } from '../log.ts';
import { allowApplications } from './cors.ts';
import { createServer, type HttpServer } from './server.ts';

/** Responses with 5xx, which no input may cause. */
const failures: string[] = [];
const log = createLog({ level: 'error', destination: { write: (line) => void failures.push(line) } });
let app: HttpServer;
let issuer: TestIssuer;
let address: string;

beforeAll(async () => {
  issuer = await startTestIssuer();
  app = createServer({ service: 'media', log, readiness: {}, cors: allowApplications([]) });
  const access = createAccess({ internalKeys: ['internal'], jwksUrl: issuer.jwksUrl, log });
  app.post(
    '/v1/assets/:id',
    { ...access.userOrInternal, schema: { body: z.object({ kind: z.string() }) } },
    async () => ({}),
  );
  address = await app.listen({ port: 0, host: '127.0.0.1' });
});
afterAll(async () => {
  await app.close();
  await issuer.close();
});

/** A seeded generator makes failures reproducible. */
let state = 13;
const next = (below: number) => {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
  return (state >>> 8) % below;
};

const pieces = [
  '\r\n',
  '\r\n\r\n',
  ':',
  ' ',
  '\t',
  '\0',
  '\u00ff',
  '%',
  '%00',
  '%ff',
  '/../',
  '?',
  '#',
  '*',
  ',',
  ';',
  '"',
  '{',
  '[',
  '-1',
  '99999999999999999999',
  'chunked',
  'Transfer-Encoding: chunked\r\n',
  'Content-Length: 3\r\n',
  'X-Internal-Key: \r\n',
  'Authorization: Bearer \r\n',
  'Origin: null\r\n',
  'Expect: 100-continue\r\n',
  'Upgrade: websocket\r\nConnection: upgrade\r\n',
  'HTTP/1.0',
  'HTTP/3.7',
  'x'.repeat(17_000),
];

function spoil(request: string): Buffer {
  let bytes = Buffer.from(request, 'latin1');
  for (let change = 1 + next(4); change > 0; change -= 1) {
    const at = next(bytes.length);
    const piece = Buffer.from(pieces[next(pieces.length)] ?? '', 'latin1');
    bytes = Buffer.concat([bytes.subarray(0, at), piece, bytes.subarray(at + next(3))]);
  }
  return bytes;
}

/** Returns everything that the server sends until it is silent or closes the connection. */
function exchange(bytes: Buffer): Promise<string> {
  const { hostname, port } = new URL(address);
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname);
    let received = '';
    const done = () => {
      socket.destroy();
      resolve(received);
    };
    socket.setEncoding('latin1').setTimeout(60, done);
    socket.on('data', (chunk) => {
      received += chunk;
    });
    socket.on('close', done).on('error', done);
    socket.end(bytes);
  });
}

it('survives malformed requests', async () => {
  const good = [
    `POST /v1/assets/7?x=1 HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nAuthorization: Bearer ${await issuer.token()}\r\ntraceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01\r\nX-Request-Id: a\r\nContent-Length: 16\r\n\r\n{"kind":"image"}`,
    'POST /v1/assets/7 HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nX-Internal-Key: internal\r\nTransfer-Encoding: chunked\r\n\r\n10\r\n{"kind":"image"}\r\n0\r\n\r\n',
    'OPTIONS /v1/assets/7 HTTP/1.1\r\nHost: x\r\nOrigin: http://localhost:3000\r\nAccess-Control-Request-Method: POST\r\n\r\n',
    'GET /health HTTP/1.1\r\nHost: x\r\n\r\nGET /ready HTTP/1.1\r\nHost: x\r\n\r\n',
  ];
  for (let round = 0; round < 60; round += 1) {
    const answers = await Promise.all(Array.from({ length: 20 }, () => exchange(spoil(good[next(good.length)] ?? ''))));
    for (const answer of answers) {
      if (answer !== '') expect(answer).toMatch(/^HTTP\/1\.1 (100|200|204|400|401|404|408|413|415|431)\b/);
      expect(answer).not.toMatch(/stack|node_modules|FST_ERR|HPE_|statusCode/);
    }
  }
  expect(failures).toEqual([]);
  expect((await fetch(`${address}/health`)).status).toBe(200);
});
