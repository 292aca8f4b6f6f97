/** What is in a long command's way, and is no fault of the program: told in one line, without a stack. */
import { StartFault } from '#platform/lifecycle.ts';
import { Problem } from '#platform/problem.ts';

/** A disk that is full, a file that may not be read, an engine that went away. */
export async function withReadableErrors<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Problem) {
      const cause = error.cause instanceof Error ? ` (${error.cause.message})` : '';
      throw new StartFault(`${error.message}${cause} The command may be repeated.`, { cause: error });
    }
    if (error instanceof Error && 'syscall' in error) throw new StartFault(error.message, { cause: error });
    throw error;
  }
}
