/** The calibrations of embedders: a row for each that was ever used. */
import { json } from '#platform/db/db.ts';
import type { Handle } from '../store.ts';
import type { Calibration } from './calibration.ts';

export interface CalibrationTables {
  memory_calibrations: { embedder: string; edition: number; points: Calibration };
}

export async function findCalibration(db: Handle, embedder: string, edition: number): Promise<Calibration | undefined> {
  const row = await db
    .selectFrom('memory_calibrations')
    .select('points')
    .where('embedder', '=', embedder)
    .where('edition', '=', edition)
    .executeTakeFirst();
  return row?.points;
}

/** Another process may have been faster: it measured the same. */
export async function insertCalibration(
  db: Handle,
  embedder: string,
  edition: number,
  points: Calibration,
): Promise<void> {
  await db
    .insertInto('memory_calibrations')
    .values({ embedder, edition, points: json(points) })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}
