/** The meaning of the engines' errors by SQLSTATE (PostgreSQL's appendix A), which PGlite and pg both have as `code`. */
import { Problem, problems } from '../problem.ts';

/** Failures of the engine, not of the statement: a retry may succeed. Class 08 (connection) is one of them too. */
const transientStates = new Set([
  '25006', // read-only: a replica, or a primary that was demoted
  '25P03', // idle in transaction for too long
  '40001', // serialization failure
  '40P01', // deadlock
  '53200', // out of memory
  '53300', // too many connections
  '55P03', // lock not available
  '57014', // statement timeout
  '57P01', // shut down by the administrator
  '57P02', // crash of another backend
  '57P03', // starting up or shutting down
]);

const diskFull = '53100';

export function sqlState(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) && !/^E[A-Z]{4}$/.test(code) ? code : undefined;
}

/** Of this constraint or index, when `constraint` is given. */
export function isUniqueViolation(error: unknown, constraint?: string): boolean {
  if (sqlState(error) !== '23505') return false;
  return constraint === undefined || (error as { constraint?: string }).constraint === constraint;
}

/** As the engine reports it, or as `engine_unavailable`. */
export const isDeadlock = (error: unknown): boolean =>
  sqlState(error instanceof Problem ? error.cause : error) === '40P01';

/** A row that the statement names does not exist. */
export const isForeignKeyViolation = (error: unknown): boolean => sqlState(error) === '23503';

/** Failures of the engine become `engine_unavailable`; faults of the statement stay the same, without the row's values. */
export function translateError(error: unknown): unknown {
  if (error instanceof Problem || !(error instanceof Error)) return error;
  const state = sqlState(error);
  // They quote parameters and whole rows, which must not reach a log.
  for (const key of ['detail', 'where', 'internalQuery', 'query', 'params', 'queryOptions'])
    Reflect.deleteProperty(error, key);
  if (state === diskFull) return problems.storage_full({ cause: error });
  if (state === undefined || (!transientStates.has(state) && !state.startsWith('08'))) return error;
  return problems.engine_unavailable({ cause: error });
}
