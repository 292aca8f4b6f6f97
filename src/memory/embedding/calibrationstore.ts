/** The rows of calibrations, one for each embedder and edition of the pairs. */
import { json } from '#platform/db/db.ts';
import type { Handle } from '../tables.ts';

/** Cosines with their similarities, both rising. If it is empty, a cosine is the similarity. */
export type Calibration = readonly (readonly [cosine: number, similarity: number])[];

export async function findCalibration(db: Handle, embedder: string, edition: number): Promise<Calibration | undefined> {
  const row = await db
    .selectFrom('memory_calibrations')
    .select('points')
    .where('embedder', '=', embedder)
    .where('edition', '=', edition)
    .executeTakeFirst();
  return row?.points;
}

/** Does nothing if another process has inserted it: it measured the same. */
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
