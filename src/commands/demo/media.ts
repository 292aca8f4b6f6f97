/** Uploads and processes an image, then a video. */
import { readFile } from 'node:fs/promises';
import { basename, extname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import mime from 'mime';
import { outgoingFetch } from '#platform/http/outgoing.ts';
import { StartFault } from '#platform/lifecycle.ts';
import { call, type JsonObject, open, post, printStep } from './calls.ts';
import { renderClip } from './clip.ts';
import { renderLandscape } from './samplephoto.ts';

export interface MediaFile {
  readonly name: string;
  readonly mime: string;
  readonly bytes: Uint8Array;
}

interface DemoUser {
  readonly media: string;
  readonly token: string;
}

const scope = { scopeKind: 'thread', scopeId: 'demo' };

export async function choosePhoto(path: string | undefined): Promise<MediaFile> {
  if (path !== undefined) return readMedia(path, 'image/jpeg');
  return { name: 'a rendered landscape', mime: 'image/jpeg', bytes: await renderLandscape() };
}

/** Returns `undefined` if no file is given and ffmpeg is not installed to render one. */
export async function chooseClip(path: string | undefined): Promise<MediaFile | undefined> {
  if (path !== undefined) return readMedia(path, 'video/mp4');
  const bytes = await renderClip();
  return bytes && { name: 'a rendered clip', mime: 'video/mp4', bytes };
}

async function readMedia(path: string, otherwise: string): Promise<MediaFile> {
  const bytes = await readFile(path).catch((cause: Error) => {
    throw new StartFault(`Cannot read ${path}: ${cause.message}`);
  });
  return { name: basename(path), mime: mime.getType(extname(path)) ?? otherwise, bytes };
}

/** Uploads, registers and signs an image, copies it to the public feed and watermarks it for a download. Returns the asset. */
export async function showImage({ media, token }: DemoUser, photo: MediaFile): Promise<string> {
  const postMedia = (path: string, body: unknown) => post(`${media}${path}`, { token }, body);
  const assetId = await upload({ media, token }, photo, 'image');
  const row = await postMedia('/v1/assets', { assetId, ...scope, kind: 'image', mime: photo.mime });
  printStep('Register', `${row.mime}, ${row.width} × ${row.height}, blurhash ${row.blurhash}`);

  const signed = (await postMedia('/v1/sign/image', { refs: [assetId] }))[assetId] as JsonObject;
  await open('Original', signed.url);
  await open('Thumbnail', signed.thumbUrl);
  await open('Preview', signed.previewUrl);

  const copy = await postMedia('/v1/copy', { fromAssetId: assetId, toScopeKind: 'feed', toScopeId: 'demo' });
  printStep('Copy', `asset ${copy.assetId} in the public feed`);
  await open('Watermark', (await postMedia('/v1/watermark', { ref: assetId })).url);
  return assetId;
}

/** Uploads a video, hands it to the background job that takes a poster frame, then watermarks it for a download. */
export async function showVideo({ media, token }: DemoUser, clip: MediaFile): Promise<void> {
  const postMedia = (path: string, body: unknown) => post(`${media}${path}`, { token }, body);
  const assetId = await upload({ media, token }, clip, 'video');
  const { taskId } = await postMedia('/v1/media-tasks/video', { assetId, ...scope, mime: clip.mime });
  printStep('Video', `task ${taskId}`, `${media}/v1/media-tasks/${taskId}`);
  await ended(`${media}/v1/media-tasks/${taskId}`, token);
  const signed = (await postMedia('/v1/sign/video', { refs: [assetId] }))[assetId] as JsonObject;
  await open('Video', signed.url);
  await open('Poster', signed.thumbUrl);
  await open('Watermark', (await postMedia('/v1/watermark-video', { ref: assetId })).url);
}

const patienceMs = 60_000;

async function ended(url: string, token: string): Promise<void> {
  for (let waitedMs = 0; waitedMs < patienceMs; waitedMs += 500) {
    const { status, metadata } = await call('GET', url, { token });
    if (status === 'completed') return;
    if (status === 'failed') throw new StartFault(`${url} failed: ${JSON.stringify(metadata)}`);
    await sleep(500);
  }
  throw new StartFault(`${url} is not finished after ${patienceMs / 1000} s.`);
}

async function upload({ media, token }: DemoUser, file: MediaFile, kind: string): Promise<string> {
  const reservation = await post(`${media}/v1/uploads`, { token }, { ...scope, kind, mime: file.mime });
  const put = await outgoingFetch(String(reservation.uploadUrl), {
    method: 'PUT',
    headers: reservation.headers as Record<string, string>,
    body: new Uint8Array(file.bytes),
  });
  if (!put.ok) throw new StartFault(`The upload returned ${put.status}: ${await put.text()}`);
  printStep('Upload', `${file.name}, ${file.bytes.length} bytes, asset ${reservation.assetId}`);
  return String(reservation.assetId);
}
