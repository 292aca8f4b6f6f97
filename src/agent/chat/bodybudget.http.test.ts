/** Bodies of `POST /chat` that fill the memory for arriving bodies. Other users can still send theirs. */
import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Chatter, newThread } from '../../../test/agent/rig.fixture.ts';
import { type ScriptedRig, startScripted } from '../../../test/agent/scripted.fixture.ts';

const mebibyte = 1024 * 1024;
/** Together 256 MiB, the limit of a process. */
const filling = [...Array.from({ length: 7 }, () => 36 * mebibyte), 4 * mebibyte];

let rig: ScriptedRig;
let sockets: Socket[];
beforeEach(async () => {
  rig = await startScripted();
  sockets = [];
});
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  await rig.close();
});

/** Announces a body and sends only its beginning. */
function beginBody({ credential }: Chatter, bytes: number): Socket {
  const { hostname, port } = new URL(rig.url);
  const socket = connect(Number(port), hostname).resume();
  socket.on('error', () => undefined);
  const headers = Object.entries({ ...credential, 'content-type': 'application/json', 'content-length': bytes });
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  socket.write(`POST /chat HTTP/1.1\r\nhost: a\r\n${lines}\r\n{"id":`);
  sockets.push(socket);
  return socket;
}

async function post({ credential }: Chatter, body: string): Promise<number> {
  const headers = { ...credential, 'content-type': 'application/json' };
  const response = await fetch(`${rig.url}/chat`, { method: 'POST', headers, body });
  await response.body?.cancel();
  return response.status;
}
/** A body that is not JSON is 400 once it has arrived. */
const isFullFor = async (chatter: Chatter) => (await post(chatter, '{')) === 503;
const chat = () =>
  JSON.stringify({ id: newThread(), messages: [{ role: 'user', parts: [{ type: 'text', text: 'hi' }] }] });

describe('when bodies of 256 MiB are arriving', () => {
  it('the user with the most bytes gets no more, and loses one body to another user', async () => {
    const [hostile, other] = [await rig.user(), await rig.user()];
    const bodies = filling.map((bytes) => beginBody(hostile, bytes));
    await expect.poll(() => isFullFor(hostile)).toBe(true);
    expect(await post(other, chat())).toBe(200);
    await expect.poll(() => bodies.filter(({ destroyed }) => destroyed).length).toBe(1);
  });

  it('users with fewer bytes lose none', async () => {
    const [hostile, other] = [await rig.user(), await rig.user()];
    const [small, ...large] = filling.toSorted((one, next) => one - next);
    const smallBody = beginBody(other, small ?? 0);
    for (const bytes of large) beginBody(hostile, bytes);
    await expect.poll(() => isFullFor(hostile)).toBe(true);
    expect(await post(await rig.user(), chat())).toBe(200);
    expect(smallBody.destroyed).toBe(false);
  });

  it('users with equal shares are admitted alike', async () => {
    const users = await Promise.all(filling.map(() => rig.user()));
    const bodies = filling.map((bytes, index) => beginBody(users[index] as Chatter, bytes));
    await expect.poll(() => isFullFor(users[0] as Chatter)).toBe(true);
    const last = beginBody(await rig.user(), 36 * mebibyte);
    const [answer] = await last.take(1).toArray();
    expect(String(answer)).toContain('503 Service Unavailable');
    expect(bodies.filter(({ destroyed }) => destroyed)).toEqual([]);
  });

  it('completed and abandoned bodies no longer count', async () => {
    const [hostile, other] = [await rig.user(), await rig.user()];
    for (const bytes of filling) beginBody(hostile, bytes);
    await expect.poll(() => isFullFor(hostile)).toBe(true);
    for (const socket of sockets) socket.destroy();
    await expect.poll(() => isFullFor(hostile)).toBe(false);
    expect(await post(other, chat())).toBe(200);
  });
});
