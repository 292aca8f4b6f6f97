/** The rows of calibrations, one for each embedder and edition of the pairs. */
import { json } from '#platform/db/db.ts';
import type { Handle } from '../tables.ts';

/** Cosines with their similarities, both rising. If it is empty, a cosine is the similarity. */
export type Points = readonly (readonly [cosine: number, similarity: number])[];

export interface Calibration {
  readonly points: Points;
  /** Is subtracted from the vectors of queries. Empty: nothing is. */
  readonly center: readonly number[];
  /** For the vectors of queries. */
  readonly queryPoints: Points;
}

export function findCalibration(db: Handle, embedder: string, edition: number): Promise<Calibration | undefined> {
  return db
    .selectFrom('memory_calibrations')
    .select(['points', 'center', 'query_points as queryPoints'])
    .where('embedder', '=', embedder)
    .where('edition', '=', edition)
    .executeTakeFirst();
}

/** Does nothing if another process has inserted it: it measured the same. */
export async function insertCalibration(
  db: Handle,
  embedder: string,
  edition: number,
  { points, center, queryPoints }: Calibration,
): Promise<void> {
  await db
    .insertInto('memory_calibrations')
    .values({ embedder, edition, points: json(points), center: json(center), query_points: json(queryPoints) })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}
