/** What all users used, for operators (docs/agent.md). */
import type { Db } from '#platform/db/db.ts';
import type { Spenders, SpendersQuery, TotalsQuery, UsageTotals } from '../operatorapi.ts';
import { listSpenders, listTotals, type UsageTotalTables } from '../store/usagetotalstore.ts';
import { chooseDays } from './accounts.ts';

export interface TotalsDeps {
  readonly db: Db<UsageTotalTables>;
}

/** Throws 400 for days in the wrong order, or too many. */
export async function readTotals({ db }: TotalsDeps, range: TotalsQuery): Promise<UsageTotals> {
  const { from, to } = chooseDays(range);
  return { days: await listTotals(db, from, to) };
}

export async function readSpenders({ db }: TotalsDeps, { month, limit }: SpendersQuery): Promise<Spenders> {
  const chosen = month ?? new Date().toISOString().slice(0, 'YYYY-MM'.length);
  return { month: chosen, users: await listSpenders(db, `${chosen}-01`, limit) };
}
