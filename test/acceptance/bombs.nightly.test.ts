/** Hostile files, sent to the running program: each takes a bounded amount of memory, and the next request is served. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { contentBomb, fontBomb } from '../agent/bombs.fixture.ts';
import { pdfOf } from '../agent/wire.fixture.ts';
import { startTestIssuer } from '../platform/tokenissuer.fixture.ts';
import { peakOf, residentBytes } from './resident.fixture.ts';
import { newLanePlace, type Place, type Program, run } from './running.fixture.ts';

const MiB = 1024 * 1024;
const allowedBytes = 512 * MiB;
const patience = { timeout: 60_000, interval: 100 };

describe.skipIf(process.platform !== 'linux')('a bomb', () => {
  let place: Place;
  let program: Program;
  let authorization: string;
  let issuer: Awaited<ReturnType<typeof startTestIssuer>>;
  beforeAll(async () => {
    issuer = await startTestIssuer();
    place = await newLanePlace();
    program = run('start', ['agent', 'media', 'memory', 'edge'], { ...place.env, JWKS_URL: issuer.jwksUrl });
    await program.waitFor('Atelier is ready');
    authorization = `Bearer ${await issuer.token({ sub: randomUUID() })}`;
  }, 120_000);
  afterAll(async () => {
    program?.child.kill('SIGKILL');
    await program?.ended();
    await place?.remove();
    await issuer?.close();
  });

  const ask = async (path: string, body?: object) => {
    const response = await fetch(`http://127.0.0.1:${place.portBase + 4}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: (await response.json()) as { taskId: string; status: string } };
  };

  async function turn(threadId: string, parts: readonly object[]): Promise<void> {
    const started = await ask('/task', { threadId, message: { role: 'user', parts } });
    expect([started.status, started.body.taskId]).toEqual([201, expect.any(String)]);
    const status = async () => (await ask(`/task/${started.body.taskId}`)).body.status;
    await expect.poll(status, patience).toBe('completed');
  }
  const text = { type: 'text', text: 'What is in it?' };
  const pdf = (bytes: Buffer) => ({
    type: 'file',
    mediaType: 'application/pdf',
    url: `data:application/pdf;base64,${bytes.toString('base64')}`,
  });

  it.each([
    ['a font of 2 GB', () => fontBomb(2040)],
    ['a page of 2 GB', () => contentBomb(2040)],
  ])('of %s in a PDF takes less than 512 MiB, and its thread goes on', { timeout: 180_000 }, async (_what, make) => {
    await turn(randomUUID(), [text, pdf(pdfOf('Bees'))]);
    const idle = await residentBytes(program);
    const threadId = randomUUID();
    const peak = await peakOf(program, async () => {
      await turn(threadId, [text, pdf(make())]);
      await turn(threadId, [text]);
    });
    expect(peak - idle).toBeLessThan(allowedBytes);
  });
});
