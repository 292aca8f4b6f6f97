/** Runs the examples that need no build: an MCP client against the agent, and a receiver against real deliveries. */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { createGuard } from '#platform/http/hostguard.ts';
import { post } from '#webhooks/delivering.ts';
import { bodyOf } from '#webhooks/publishing.ts';
import { root } from '../acceptance/running.fixture.ts';
import { startAgent } from '../agent/rig.fixture.ts';
import { makeImage } from '../media/images.fixture.ts';
import { embedded } from '../media/rig.fixture.ts';
import { freePortBase } from '../ports.fixture.ts';
import { programEnv } from '../programs.fixture.ts';

const limitMs = 120_000;
let child: ChildProcess | undefined;
afterEach(() => void child?.kill());

function runExample(path: string, args: readonly string[], env: Readonly<Record<string, string>>) {
  const started = spawn(process.execPath, [join(root, 'examples', path), ...args], { env: { ...programEnv, ...env } });
  child = started;
  let printed = '';
  for (const stream of [started.stdout, started.stderr]) stream.on('data', (chunk) => (printed += chunk));
  return { ended: once(started, 'exit'), printed: () => printed };
}

describe('examples', { timeout: limitMs }, () => {
  it('mcp: a client makes an image and finds it in the library', async () => {
    const make = async () => ({ bytes: await makeImage('png'), mime: 'image/png' });
    const rig = await startAgent(embedded, { imageGenerator: { generate: make, edit: make } });
    const user = await rig.user('pro', 100);
    const token = String(user.credential.authorization).replace('Bearer ', '');
    const env = { ATELIER_TOKEN: token, AGENT_URL: rig.url };
    const { ended, printed } = runExample('mcp/draw.ts', ['a bee'], env);
    const [code] = await ended;
    expect(code, printed()).toBe(0);
    expect(printed()).toContain('tools: generate_image, edit_image');
    const assetId = /image: .*"assetId":"([0-9a-f-]{36})"/.exec(printed())?.[1];
    expect(/library: .*/.exec(printed())?.[0]).toContain(String(assetId));
    expect(await rig.credits(user)).toBe(98);
    await rig.close();
  });

  it('webhooks: a receiver verifies each event and handles it once', async () => {
    const secret = `whsec_${randomBytes(32).toString('base64')}`;
    const port = await freePortBase();
    const { printed } = runExample('webhooks/receive.ts', [], { WEBHOOK_SECRET: secret, PORT: String(port) });
    await expect.poll(printed, { timeout: limitMs }).toContain('listening');
    const deps = {
      url: `http://127.0.0.1:${port}/hooks`,
      guard: createGuard({ allowedHosts: ['127.0.0.1'] }),
      clock: { now: () => Date.now() },
    };
    const signal = AbortSignal.timeout(limitMs);
    const data = { userId: randomUUID(), email: 'ada@example.com' };
    const delivery = { id: `msg_${randomUUID()}`, body: bodyOf('account.created', data, Date.now()) };
    await post({ ...deps, secrets: [secret] }, delivery, signal);
    await post({ ...deps, secrets: [secret] }, delivery, signal);
    const wrong = `whsec_${randomBytes(32).toString('base64')}`;
    await expect(post({ ...deps, secrets: [wrong] }, delivery, signal)).rejects.toThrow('401');
    expect(printed().match(/account\.created/g)).toHaveLength(1);
  });
});
