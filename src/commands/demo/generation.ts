/** Four images from an uploaded one, and a video that starts with one of them, without a conversation. */
import { setTimeout as sleep } from 'node:timers/promises';
import { StartFault } from '#platform/lifecycle.ts';
import type { Generation } from '../../client/agent/api.ts';
import { call, type JsonObject, open, post, printStep } from './calls.ts';

interface DemoUser {
  readonly agent: string;
  readonly token: string;
}

const patienceMs = 120_000;

export async function showGeneration(user: DemoUser, assetId: string): Promise<void> {
  const prompt = 'The same landscape at night';
  const four = await order(user, '/images', { prompt, n: 4, references: [`asset:${assetId}`] });
  printStep('Generate', `${four.items.length} images from the upload, ${four.credits} credits`);
  for (const { url } of four.items) await open('Generated', url);
  const firstFrame = `asset:${four.items[0]?.assetId}`;
  const film = await order(user, '/videos', { prompt: 'Clouds pass by', firstFrame });
  await open('Filmed', film.items[0]?.url);
}

async function order({ agent, token }: DemoUser, path: string, body: JsonObject): Promise<Generation> {
  let generation = (await post(`${agent}${path}`, { token }, body)) as unknown as Generation;
  const url = `${agent}/generations/${generation.id}`;
  for (let waitedMs = 0; generation.status === 'running' && waitedMs < patienceMs; waitedMs += 500) {
    await sleep(500);
    generation = (await call('GET', url, { token })) as unknown as Generation;
  }
  if (generation.status === 'completed') return generation;
  throw new StartFault(`${url} is ${generation.status}: ${JSON.stringify(generation.items[0]?.failure ?? null)}`);
}
