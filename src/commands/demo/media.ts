/** An upload and what becomes of it: a picture first, then a clip. */
import { readFile } from 'node:fs/promises';
import { basename, extname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import mime from 'mime';
import { outgoingFetch } from '#platform/http/outgoing.ts';
import { StartFault } from '#platform/lifecycle.ts';
import { type Answer, call, open, post, tell } from './calls.ts';
import { renderClip } from './clip.ts';
import { renderLandscape } from './samplephoto.ts';

export interface MediaFile {
  readonly name: string;
  readonly mime: string;
  readonly bytes: Uint8Array;
}

interface Who {
  readonly media: string;
  readonly token: string;
}

const scope = { scopeKind: 'thread', scopeId: 'demo' };

export async function choosePhoto(path: string | undefined): Promise<MediaFile> {
  if (path !== undefined) return readMedia(path, 'image/jpeg');
  return { name: 'a rendered landscape', mime: 'image/jpeg', bytes: await renderLandscape() };
}

/** `undefined`: none was named, and there is no ffmpeg to render one. */
export async function chooseClip(path: string | undefined): Promise<MediaFile | undefined> {
  if (path !== undefined) return readMedia(path, 'video/mp4');
  const bytes = await renderClip();
  return bytes && { name: 'a rendered clip', mime: 'video/mp4', bytes };
}

async function readMedia(path: string, otherwise: string): Promise<MediaFile> {
  const bytes = await readFile(path).catch((cause: Error) => {
    throw new StartFault(`${path} cannot be read: ${cause.message}`);
  });
  return { name: basename(path), mime: mime.getType(extname(path)) ?? otherwise, bytes };
}

/** Uploaded, registered, signed, copied to the public feed, marked for a download. */
export async function showPicture({ media, token }: Who, photo: MediaFile): Promise<void> {
  const ask = (path: string, body: unknown) => post(`${media}${path}`, { token }, body);
  const assetId = await upload({ media, token }, photo, 'image');
  const row = await ask('/v1/assets', { assetId, ...scope, kind: 'image', mime: photo.mime });
  tell('Register', `${row.mime}, ${row.width} × ${row.height}, blurhash ${row.blurhash}`);

  const signed = (await ask('/v1/sign/image', { refs: [assetId] }))[assetId] as Answer;
  await open('Original', signed.url);
  await open('Thumbnail', signed.thumbUrl);
  await open('Preview', signed.previewUrl);

  const copy = await ask('/v1/copy', { fromAssetId: assetId, toScopeKind: 'feed', toScopeId: 'demo' });
  tell('Copy', `asset ${copy.assetId} in the public feed`);
  await open('Watermark', (await ask('/v1/watermark', { ref: assetId })).url);
}

/** Uploaded and handed to the background job, which takes a poster frame; then marked for a download. */
export async function showVideo({ media, token }: Who, clip: MediaFile): Promise<void> {
  const ask = (path: string, body: unknown) => post(`${media}${path}`, { token }, body);
  const assetId = await upload({ media, token }, clip, 'video');
  const { taskId } = await ask('/v1/media-tasks/video', { assetId, ...scope, mime: clip.mime });
  tell('Video', `task ${taskId}`, `${media}/v1/media-tasks/${taskId}`);
  await ended(`${media}/v1/media-tasks/${taskId}`, token);
  const signed = (await ask('/v1/sign/video', { refs: [assetId] }))[assetId] as Answer;
  await open('Video', signed.url);
  await open('Poster', signed.thumbUrl);
  await open('Watermark', (await ask('/v1/watermark-video', { ref: assetId })).url);
}

const patienceMs = 60_000;

async function ended(url: string, token: string): Promise<void> {
  for (let waitedMs = 0; waitedMs < patienceMs; waitedMs += 500) {
    const { status, metadata } = await call('GET', url, { token });
    if (status === 'completed') return;
    if (status === 'failed') throw new StartFault(`${url} failed: ${JSON.stringify(metadata)}`);
    await sleep(500);
  }
  throw new StartFault(`${url} is not done after ${patienceMs / 1000} s.`);
}

async function upload({ media, token }: Who, file: MediaFile, kind: string): Promise<string> {
  const reservation = await post(`${media}/v1/uploads`, { token }, { ...scope, kind, mime: file.mime });
  const put = await outgoingFetch(String(reservation.uploadUrl), {
    method: 'PUT',
    headers: reservation.headers as Record<string, string>,
    body: new Uint8Array(file.bytes),
  });
  if (!put.ok) throw new StartFault(`The upload was answered with ${put.status}: ${await put.text()}`);
  tell('Upload', `${file.name}, ${file.bytes.length} bytes, asset ${reservation.assetId}`);
  return String(reservation.assetId);
}
