/**
 * `POST /v1/reports` (docs/specification/media.md#reports): anyone who can read content can report it, once. A page needs no account;
 * its reporters are counted by their address, of which only a keyed digest is stored.
 */
import { createHmac } from 'node:crypto';
import ipaddr from 'ipaddr.js';
import type { Caller } from '#platform/access/caller.ts';
import { transaction } from '#platform/db/db.ts';
import { toContentLanguage } from '#platform/language.ts';
import { invalid, problems } from '#platform/problem.ts';
import { findAsset } from '../assets/assetstore.ts';
import { mayRead, ownerFor } from '../assets/ownership.ts';
import type { MediaContext } from '../context.ts';
import { findShare } from '../shares/sharestore.ts';
import type { OwnReportListing, OwnReportPage, ReportRequest } from './api.ts';
import {
  countReport,
  findReport,
  insertReport,
  joinAssetIncident,
  joinThreadIncident,
  listReportsOf,
  lockReporter,
} from './reportstore.ts';

/** Of a person or an address. */
const mostPerDay = 20;
const priorityReasons: readonly string[] = ['minor', 'intimate'];

interface Reporter {
  readonly name: string;
  /** `null`: without an account. */
  readonly userId: string | null;
}

/** `caller`: `undefined` without a credential. Throws 400, 401, 404 (what the caller cannot read) and 429. */
export async function reportContent(
  deps: MediaContext,
  caller: Caller | undefined,
  request: ReportRequest,
  address: string,
): Promise<{ readonly id: string; readonly isNew: boolean }> {
  const { shareId, reason, note, contact } = request;
  if (caller?.kind === 'internal' && request.address === undefined)
    throw invalid('body.address', 'is required with X-Internal-Key');
  if (caller?.kind !== 'internal' && request.address !== undefined)
    throw invalid('body.address', 'is accepted with X-Internal-Key only');
  if (caller?.kind !== 'user' && shareId === undefined) throw problems.unauthorized();
  const reporter = reporterOf(deps, caller, request.address ?? address);
  const target = await findTarget(deps, caller, request);
  const isPriority = priorityReasons.includes(reason);
  return transaction(deps.db, async (tx) => {
    await lockReporter(tx, reporter.name);
    // People behind one address cannot be distinguished, so every request without an account counts.
    if (reporter.userId === null && !(await countReport(tx, reporter.name, mostPerDay))) throw tooMany();
    const known = await findReport(tx, reporter.name, target.name);
    if (known !== undefined) return { id: known, isNew: false };
    if (reporter.userId !== null && !(await countReport(tx, reporter.name, mostPerDay))) throw tooMany();
    const incidentId =
      target.assetId === null
        ? await joinThreadIncident(tx, String(shareId), isPriority)
        : await joinAssetIncident(tx, target.assetId, shareId ?? null, isPriority);
    if (incidentId === undefined) throw noSuchContent();
    const id = await insertReport(tx, incidentId, {
      reporter: reporter.name,
      target: target.name,
      reporterId: reporter.userId,
      reason,
      note: note || null,
      contact: contact || null,
      language: toContentLanguage(request.locale ?? '') ?? null,
    });
    return { id, isNew: true };
  });
}

const tooMany = () =>
  problems.rate_limited({
    message: `A person or an address can report ${mostPerDay} times a day.`,
    retryAfterS: 3600,
  });

const noSuchContent = () => problems.not_found({ message: 'There is no such content.' });

function reporterOf({ addressSecret }: MediaContext, caller: Caller | undefined, address: string): Reporter {
  if (caller?.kind === 'user') return { name: `user:${caller.userId}`, userId: caller.userId };
  const digest = createHmac('sha256', addressSecret).update(networkOf(address)).digest('base64url');
  return { name: `address:${digest}`, userId: null };
}

/** A household has a network of IPv6 addresses. */
function networkOf(address: string): string {
  if (!ipaddr.isValid(address)) return '';
  const parsed = ipaddr.process(address);
  return parsed instanceof ipaddr.IPv6 ? parsed.parts.slice(0, 4).join(':') : parsed.toString();
}

async function findTarget(
  { db, publicScopes }: MediaContext,
  caller: Caller | undefined,
  { assetId, shareId }: ReportRequest,
): Promise<{ readonly name: string; readonly assetId: string | null }> {
  if (shareId !== undefined) {
    const share = await findShare(db, shareId);
    if (share === undefined) throw noSuchContent();
    if (share.assetId === null) return { name: `thread:${share.ownerId}/${share.threadId}`, assetId: null };
    return { name: `asset:${share.assetId}`, assetId: share.assetId };
  }
  const row = await findAsset(db, String(assetId));
  if (!row?.readyAt || caller === undefined || !mayRead(caller, row, publicScopes)) throw noSuchContent();
  return { name: `asset:${row.assetId}`, assetId: row.assetId };
}

/** Throws 400 (server without `ownerId`) and 403. */
export async function readOwnReports(
  { db }: MediaContext,
  caller: Caller,
  { ownerId, cursor, limit }: OwnReportListing,
): Promise<OwnReportPage> {
  const rows = await listReportsOf(db, ownerFor(caller, ownerId, 'querystring.ownerId'), cursor, limit + 1);
  const page = rows.slice(0, limit).map((row) => ({ ...row, createdAt: row.createdAt.toISOString() }));
  return { reports: page, nextCursor: rows.length > limit ? (page.at(-1)?.id ?? null) : null };
}
