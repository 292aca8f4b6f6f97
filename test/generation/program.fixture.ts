/** The program that `npm start` starts, and people who order images and videos. */
import { decodeJwt } from 'jose';
import { expect } from 'vitest';
import type { Generation } from '#agent/generation/api.ts';
import { credits } from '#commands/credits.ts';
import { token } from '#commands/token.ts';
import { runInProcess } from '../acceptance/inprocess.fixture.ts';
import { type Place, type Program, run } from '../acceptance/running.fixture.ts';
import { type Chatter, chatter } from '../agent/rig.fixture.ts';
import { makeImage } from '../media/images.fixture.ts';

const services = ['media', 'image', 'auth', 'agent', 'memory', 'edge', 'idp'];

export const internalKey = 'an internal key of this test';

export interface Person {
  readonly agent: Chatter;
  readonly media: Chatter;
}

export interface Running {
  readonly program: Program;
  readonly place: Place;
  /** With the internal key. */
  readonly server: Person;
  person(email: string, plan: string, amount: number): Promise<Person>;
  /** A person of an earlier program at the same place. */
  again(person: Person): Person;
  stop(): Promise<void>;
}

export async function start(place: Place, env: Readonly<Record<string, string>> = {}): Promise<Running> {
  const program = run('start', services, { ...place.env, INTERNAL_KEY: internalKey, ...env });
  await program.waitFor('Atelier is ready', 240_000);
  const at = (port: number, userId: string, credential: Readonly<Record<string, string>>) =>
    chatter(`http://localhost:${place.portBase + port}`, userId, credential);
  const asServer = { 'x-internal-key': internalKey };
  return {
    program,
    place,
    server: { agent: at(4, '', asServer), media: at(1, '', asServer) },
    async person(email, plan, amount) {
      const { output } = await runInProcess(token, [email], { ...place.env, INTERNAL_KEY: internalKey });
      const accessToken = output.trim().split('\n').at(-1) ?? '';
      const userId = String(decodeJwt(accessToken).sub);
      const granted = await runInProcess(credits, [userId, plan, String(amount)], {
        ...place.env,
        INTERNAL_KEY: internalKey,
      });
      expect(granted.code).toBe(0);
      const credential = { authorization: `Bearer ${accessToken}` };
      return { agent: at(4, userId, credential), media: at(1, userId, credential) };
    },
    again: ({ agent: { userId, credential } }) => ({
      agent: at(4, userId, credential),
      media: at(1, userId, credential),
    }),
    async stop() {
      program.child.kill('SIGTERM');
      await program.ended();
    },
  };
}

export const wait = { prefer: 'wait=60' };
export const order = ({ agent }: Person, path: '/images' | '/videos', body: object, headers: object = wait) =>
  agent.call<Generation & { error?: string; message: string }>('POST', path, body, headers);
export const balance = async ({ agent }: Person) =>
  (await agent.call<{ credits: number }>('GET', '/credits')).body.credits;

export async function upload({ media }: Person): Promise<string> {
  const what = { scopeKind: 'library', scopeId: 'l', kind: 'image', mime: 'image/png' };
  const { body } = await media.call<{ uploadUrl: string; headers: object; assetId: string }>(
    'POST',
    '/v1/uploads',
    what,
  );
  const put = { method: 'PUT', headers: { ...body.headers }, body: new Uint8Array(await makeImage('png')) };
  expect((await fetch(body.uploadUrl, put)).status).toBe(200);
  expect((await media.call('POST', '/v1/assets', { assetId: body.assetId, ...what })).status).toBe(201);
  return body.assetId;
}
