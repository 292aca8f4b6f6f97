/**
 * Exports of accounts. A job reads the JSON of every service into the database, compressed, and notifies the user. The
 * archive is written when it is downloaded: originals are read then, so they are stored only once, and those that were deleted
 * since are missing.
 */

import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { createDeflateRaw } from 'node:zlib';
import { z } from 'zod';
import { sendMail } from '#accounts/mailing.ts';
import {
  assetsOf,
  type ExportedAsset,
  type ExportedServices,
  listed,
  listsOf,
  mailsOf,
  memoriesOf,
} from '#accounts/people/exporting.ts';
import { readPerson } from '#accounts/people/people.ts';
import { findById } from '#accounts/people/peoplestore.ts';
import { type Db, transaction } from '#platform/db/db.ts';
import type { Job, Queue } from '#platform/jobs/jobs.ts';
import { problems } from '#platform/problem.ts';
import { outgoingFetch } from '#platform/version.ts';
import { listSessions } from '../store.ts';
import type { AuthTables, ExportFile } from '../tables.ts';
import type { AccountContext } from './context.ts';
import * as store from './store.ts';
import { createTally, type ZipFile, zip } from './zip.ts';

const mostSessions = 1000;
/** How long an export can be downloaded. */
export const exportDays = 7;
/** A newer export replaces an older one. */
const replacedAfterHours = 24;
const partBytes = 256 * 1024;
/** Files of this size get the long form of their sizes. */
const largeBytes = 0xf0000000;

const exportJob = z.object({ exportId: z.guid() });
type ExportJob = z.output<typeof exportJob>;

/** Prepares an export, notifies the user, and removes it when it has expired. */
export const exportQueue: Queue<ExportJob> = {
  name: 'auth/export-account',
  payload: exportJob,
  maxAttempts: 100,
  retryAfterMs: 2000,
};

/** Returns the export of the user. Orders one if there is none of the last 24 hours. Throws 404 without a profile. */
export async function orderExport({ db, jobs }: AccountContext, userId: string): Promise<store.AccountExport> {
  if ((await findById(db, userId)).length === 0)
    throw problems.not_found({ message: 'There is no user with this id.' });
  await transaction(db, async (tx) => {
    const old = await store.removeOldExport(tx, userId, replacedAfterHours);
    if (old !== undefined) await jobs.cancel(tx, exportQueue, old);
    const exportId = await store.addExport(tx, userId);
    if (exportId !== undefined) await jobs.enqueue(tx, exportQueue, { exportId }, { key: exportId });
  });
  const ordered = await store.findExportOf(db, userId);
  if (ordered === undefined) throw problems.engine_unavailable();
  return ordered;
}

/** `undefined`: there is none, or it has expired. */
export async function findOwnExport(
  { db }: Pick<AccountContext, 'db'>,
  userId: string,
): Promise<store.AccountExport | undefined> {
  const found = await store.findExportOf(db, userId);
  return found?.isExpired ? undefined : found;
}

export function startExporting(deps: AccountContext): void {
  deps.jobs.work(exportQueue, (job) => proceed(deps, job), {
    concurrency: 2,
    // The user can order another one.
    onDead: async (tx, { exportId }) => void (await store.removeExport(tx as never, exportId)),
  });
}

async function proceed(deps: AccountContext, job: Job<ExportJob>): Promise<void> {
  const { db } = deps;
  const { exportId } = job.payload;
  const found = await store.findExport(db, exportId);
  if (found === undefined) return;
  if (found.isExpired) return void (await store.removeExport(db, exportId));
  if (found.readyAt === null) await prepare(deps, found, job.signal);
  const ready = await store.findExport(db, exportId);
  // The user was erased in the meantime.
  if (ready?.expiresAt == null) return;
  if (!ready.isMailed) {
    await mail(deps, ready, { expires_at: ready.expiresAt.toISOString() }, job.signal);
    await store.setMailed(db, exportId);
  }
  await transaction(db, (tx) => job.postpone(tx, ready.expiresInMs));
}

async function mail(
  { db, clients: { notify }, log }: AccountContext,
  { exportId, userId }: store.AccountExport,
  data: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<void> {
  const [profile] = await findById(db, userId);
  if (profile?.email == null) return;
  const type = 'account_export.ready';
  const contact = { email: profile.email, locale: profile.language ?? undefined };
  await sendMail({ notify, log }, { payload: { key: `${type} ${exportId}`, type, userId, contact, data }, signal });
}

async function prepare(deps: AccountContext, ordered: store.AccountExport, signal: AbortSignal): Promise<void> {
  const { db } = deps;
  const { exportId } = ordered;
  const contentId = randomUUID();
  // Of an attempt that was interrupted.
  await store.removeOtherParts(db, exportId, contentId);
  const files: ExportFile[] = [];
  for (const [name, pieces] of Object.entries(await readAll(deps, ordered)))
    files.push(await storeParts(db, { exportId, contentId, name, pieces }, signal));
  await transaction(db, (tx) => store.setReady(tx, exportId, { contentId, files, days: exportDays }));
}

/** A file for each service. */
async function readAll(
  deps: AccountContext,
  { userId, requestedAt }: store.AccountExport,
): Promise<Readonly<Record<string, AsyncGenerator<string>>>> {
  const { clients } = deps;
  const { person, settings, invitedBy, invited, changes } = await readPerson(deps, userId);
  const account = {
    exportedAt: new Date().toISOString(),
    person,
    settings,
    sessions: await listSessions(deps.db, userId, mostSessions),
    invitedBy,
    invited,
    // The names of operators are not the person's data.
    changes: changes.map(({ actor: _actor, ...change }) => change),
  };
  const lists = listsOf(clients, userId, Date.parse(person.createdAt));
  return {
    'account.json': document({ account: one(() => account) }),
    'agent.json': document({
      threads: listed(lists.threads),
      generations: listed(lists.generations),
      usage: listed(lists.usage),
    }),
    'media.json': document({
      assets: listed(describedAssets(clients, userId, requestedAt)),
      shares: listed(lists.shares),
      incidents: listed(lists.incidents),
      reports: listed(lists.reports),
    }),
    'memory.json': document({ memory: one(() => memoriesOf(clients, userId)) }),
    'notify.json': document({ emails: one(() => mailsOf(clients, person.email)) }),
  };
}

async function* document(fields: Readonly<Record<string, AsyncIterable<string>>>): AsyncGenerator<string> {
  let separator = '{';
  for (const [name, pieces] of Object.entries(fields)) {
    yield `${separator}"${name}":`;
    yield* pieces;
    separator = ',\n';
  }
  yield '}\n';
}

async function* one(read: () => unknown): AsyncGenerator<string> {
  yield JSON.stringify(await read());
}

/** With the name of the original in the archive. */
async function* describedAssets(clients: ExportedServices, userId: string, requestedAt: Date): AsyncGenerator<unknown> {
  for await (const { url: _url, ...asset } of assetsBefore(requestedAt, clients, userId))
    yield { ...asset, file: nameOf(asset) };
}

/** The export shows the state at its order, so that the originals are those of the list. */
async function* assetsBefore(requestedAt: Date, clients: ExportedServices, userId: string) {
  for await (const asset of assetsOf(clients, userId)) if (new Date(asset.createdAt) <= requestedAt) yield asset;
}

function nameOf({ assetId, storageKey }: ExportedAsset): string {
  const [extension = ''] = /\.[A-Za-z0-9]{1,16}$/.exec(storageKey) ?? [];
  return `originals/${assetId}${extension}`;
}

async function storeParts(
  db: Db<AuthTables>,
  file: Readonly<Record<'exportId' | 'contentId' | 'name', string>> & { readonly pieces: AsyncGenerator<string> },
  signal: AbortSignal,
): Promise<ExportFile> {
  const { exportId, contentId, name, pieces } = file;
  const tally = createTally();
  const source = Readable.from(tally.pass(encoded(pieces, signal)), { objectMode: false });
  const compressed = source.compose(createDeflateRaw());
  let number = 0;
  let compressedBytes = 0;
  let waiting: Buffer[] = [];
  let waitingBytes = 0;
  const write = async () => {
    if (waitingBytes === 0) return;
    await store.addPart(db, {
      export_id: exportId,
      content_id: contentId,
      file: name,
      number,
      bytes: Buffer.concat(waiting),
    });
    number += 1;
    waiting = [];
    waitingBytes = 0;
  };
  for await (const piece of compressed) {
    const bytes = piece as Buffer;
    waiting.push(bytes);
    waitingBytes += bytes.length;
    compressedBytes += bytes.length;
    if (waitingBytes >= partBytes) await write();
  }
  await write();
  return { name, compressedBytes, ...tally.facts() };
}

async function* encoded(pieces: AsyncGenerator<string>, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  for await (const piece of pieces) {
    signal.throwIfAborted();
    yield Buffer.from(piece);
  }
}

/** The archive of an export that is ready. */
export function readArchive(deps: AccountContext, ready: store.AccountExport): Readable {
  return Readable.from(zip(filesOf(deps, ready)), { objectMode: false });
}

async function* filesOf(
  { db, clients }: AccountContext,
  { exportId, contentId, files, userId, requestedAt }: store.AccountExport,
): AsyncGenerator<ZipFile> {
  for (const { name, compressedBytes, ...facts } of files ?? []) {
    const compressed = partsOf(db, { exportId, contentId: contentId ?? '', file: name });
    yield {
      name,
      modifiedAt: requestedAt,
      isLarge: compressedBytes >= largeBytes || facts.bytes >= largeBytes,
      compressed,
      facts: () => facts,
    };
  }
  for await (const asset of assetsBefore(requestedAt, clients, userId)) {
    // It has no original that can be read.
    if (asset.url === null) continue;
    const original = await open(asset.url);
    if (original === undefined) continue;
    const tally = createTally();
    const compressed = Readable.from(tally.pass(original), { objectMode: false }).compose(
      // Images and videos are compressed already.
      createDeflateRaw({ level: 0 }),
    );
    yield {
      name: nameOf(asset),
      modifiedAt: new Date(asset.createdAt),
      isLarge: (asset.byteSize ?? largeBytes) >= largeBytes,
      compressed,
      facts: tally.facts,
    };
  }
}

async function* partsOf(
  db: Db<AuthTables>,
  place: Readonly<Record<'exportId' | 'contentId' | 'file', string>>,
): AsyncGenerator<Uint8Array> {
  for (let number = 0; ; number++) {
    const bytes = await store.findPart(db, { ...place, number });
    if (bytes === undefined) return;
    yield bytes;
  }
}

/** `undefined`: it was deleted. A store that fails ends the download. */
async function open(url: string): Promise<AsyncIterable<Uint8Array> | undefined> {
  const answer = await outgoingFetch(url);
  if (answer.ok && answer.body !== null) return answer.body;
  await answer.body?.cancel();
  if (answer.status === 404 || answer.status === 410) return undefined;
  throw new Error(`an original could not be read: ${answer.status}`);
}
