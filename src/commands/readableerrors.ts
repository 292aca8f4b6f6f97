/** Reports failures that a user can fix in one line, without a stack. */
import { StartFault } from '#platform/lifecycle.ts';
import { Problem } from '#platform/problem.ts';

/** Handles a full disk, a file without read permission and an engine that went away. */
export async function withReadableErrors<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Problem) {
      const cause = error.cause instanceof Error ? ` (${error.cause.message})` : '';
      throw new StartFault(`${error.message}${cause} You can run the command again.`, { cause: error });
    }
    if (error instanceof Error && 'syscall' in error) throw new StartFault(error.message, { cause: error });
    throw error;
  }
}
