/** `GET /usage` and `GET /credits`: what a user has used, has left and pays (docs/specification/agent.md#usage). */

import { ensureProfile } from '#accounts/store.ts';
import { invalid } from '#platform/problem.ts';
import type { CreditsState, UsageDays } from '../api.ts';
import type { AgentContext } from '../context.ts';
import { type Catalogue, configuredMedia } from '../generation/catalogue.ts';
import type { SpenderListing, Spenders, UsageTotals, UsageTotalsRange, UserUsage } from '../operatorapi.ts';
import { sumMedia } from '../records/recordstore.ts';
import { listSpenders, listTotals, listUsage } from './usagestore.ts';

const dayMs = 86_400_000;
const firstDayMs = Date.parse('0001-01-01');
const defaultDays = 30;
const maxDays = 366;
const maxRows = 10_000;

interface DayRange {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

export async function readUsage(deps: AgentContext, userId: string, range: DayRange): Promise<UsageDays> {
  const { days } = await readUserUsage(deps, userId, range);
  return { days: days.map(({ costUsd: _costUsd, ...day }) => day) };
}

/** With the costs, for operators. */
export async function readUserUsage({ db }: AgentContext, userId: string, range: DayRange): Promise<UserUsage> {
  const { from, to } = chooseDays(range);
  return { days: await listUsage(db, userId, from, to, maxRows) };
}

/** Days are in UTC, and both included. Throws 400 for days in the wrong order, or too many. */
export function chooseDays(range: DayRange): { readonly from: string; readonly to: string } {
  const toMs = range.to === undefined ? Date.now() : Date.parse(range.to);
  const to = range.to ?? dayOf(toMs);
  const from = range.from ?? dayOf(Math.max(firstDayMs, toMs - defaultDays * dayMs));
  if (from > to) throw invalid('query.from', 'must not be after `to`');
  if (Date.parse(to) - Date.parse(from) > maxDays * dayMs)
    throw invalid('query.from', `must be at most ${maxDays} days before \`to\``);
  return { from, to };
}

export async function readCredits(
  { db, welcome }: AgentContext,
  userId: string,
  runCost: number,
  { images, videos }: Catalogue,
): Promise<CreditsState> {
  const { plan, credits } = await ensureProfile(db, { id: userId }, welcome);
  return { plan, credits, prices: { run: runCost, image: images[0].credits, video: videos[0].credits } };
}

const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10);

/** Throws 400 for days in the wrong order, or too many. */
export async function readTotals({ db, catalogue }: AgentContext, range: UsageTotalsRange): Promise<UsageTotals> {
  const days = chooseDays(range);
  const media = configuredMedia(catalogue);
  const [usual] = catalogue.images;
  const priceOf = (model: string) => media.find(({ id }) => id === model)?.costUsd ?? undefined;
  return { days: await listTotals(db, days.from, days.to), media: await sumMedia(db, days, priceOf, usual.id) };
}

export async function readSpenders({ db }: AgentContext, { month, order, limit }: SpenderListing): Promise<Spenders> {
  const chosen = month ?? new Date().toISOString().slice(0, 'YYYY-MM'.length);
  return { month: chosen, users: await listSpenders(db, `${chosen}-01`, order, limit) };
}
