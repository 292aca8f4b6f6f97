/** `npm run demo [-- photo.jpg]`: drives a running system through its public HTTP interfaces, address by address. */
import { readFile } from 'node:fs/promises';
import { basename, extname } from 'node:path';
import { decodeJwt } from 'jose';
import mime from 'mime';
import { StartFault } from '#platform/lifecycle.ts';
import { addressesOf, readConfig } from '../config.ts';
import { renderLandscape } from './landscape.ts';
import { signInThroughBrowser } from './signin.ts';

export async function demo(args: readonly string[]): Promise<number> {
  const config = readConfig(process.env, []);
  const { media, memory } = addressesOf(config);
  const photo = await choosePhoto(args[0]);

  const { accessToken: token, target } = await signInThroughBrowser(config, 'demo@example.com');
  tell('Sign in', 'made-up account demo@example.com, as a browser does', target);
  const call = (path: string, body: unknown) => post(`${media}${path}`, token, body);

  const reservation = await call('/v1/uploads', {
    scopeKind: 'thread',
    scopeId: 'demo',
    kind: 'image',
    mime: photo.mime,
  });
  tell('Reserve', `asset ${reservation.assetId}`);

  const put = await fetch(String(reservation.uploadUrl), {
    method: 'PUT',
    headers: reservation.headers as Record<string, string>,
    body: new Uint8Array(photo.bytes),
  });
  if (!put.ok) throw new StartFault(`The upload was answered with ${put.status}: ${await put.text()}`);
  tell('Upload', `${photo.name}, ${photo.bytes.length} bytes`);

  const { assetId } = reservation;
  const row = await call('/v1/assets', {
    assetId,
    scopeKind: 'thread',
    scopeId: 'demo',
    kind: 'image',
    mime: photo.mime,
  });
  tell('Register', `${row.mime}, ${row.width} × ${row.height}, blurhash ${row.blurhash}`);

  const signed = (await call('/v1/sign/image', { refs: [assetId] }))[String(assetId)] as Record<string, string>;
  for (const [label, url] of [
    ['Original', signed.url],
    ['Thumbnail', signed.thumbUrl],
    ['Preview', signed.previewUrl],
  ] as const) {
    const answer = await fetch(String(url));
    const bytes = await answer.arrayBuffer();
    if (!answer.ok) throw new StartFault(`${label} was answered with ${answer.status}.`);
    tell(label, `${answer.headers.get('content-type')}, ${bytes.byteLength} bytes`, url);
  }

  await rememberAndRecall(memory, token);
  return 0;
}

/** Says something twice, and asks for it in other words. */
async function rememberAndRecall(memory: string, token: string): Promise<void> {
  const user = { entity_id: String(decodeJwt(token).sub), entity_type: 'user' };
  for (const content of ['I like pictures with warm evening light', 'I like pictures with very warm evening light.']) {
    const added = await post(`${memory}/memory/add`, token, { ...user, content, type: 'preference' });
    tell('Remember', `${content} (${added.deduplicated ? 'known already' : 'new'})`, `${memory}/memory/${added.id}`);
  }
  const query = 'Which light should the picture have?';
  const { memories } = await post(`${memory}/inject`, token, { ...user, query, limit: 1 });
  const [found] = memories as readonly { readonly content: string; readonly score: number }[];
  if (found === undefined) throw new StartFault(`Nothing was recalled for: ${query}`);
  tell('Recall', `${query} → ${found.content} (score ${found.score.toFixed(2)})`, `${memory}/inject`);
}

function tell(step: string, what: string, address?: string): void {
  console.log(`${step.padEnd(10)} ${what}${address === undefined ? '' : `\n           ${address}`}`);
}

async function choosePhoto(path: string | undefined): Promise<{ name: string; mime: string; bytes: Uint8Array }> {
  if (path === undefined) return { name: 'a rendered landscape', mime: 'image/jpeg', bytes: await renderLandscape() };
  const bytes = await readFile(path).catch((cause: Error) => {
    throw new StartFault(`${path} cannot be read: ${cause.message}`);
  });
  return { name: basename(path), mime: mime.getType(extname(path)) ?? 'image/jpeg', bytes };
}

async function post(url: string, token: string, body: unknown): Promise<Record<string, unknown>> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  }).catch((cause: Error) => {
    throw new StartFault(`${url} does not answer; is \`npm start\` running? (${cause.message})`);
  });
  const text = await answer.text();
  if (!answer.ok) throw new StartFault(`${url} was answered with ${answer.status}: ${text}`);
  return JSON.parse(text);
}
