import { Problem } from '#platform/problem.ts';

/** The field that a 400 names, the text of any other error, or `undefined` if `work` succeeds. */
export function faultOf(work: () => unknown): string | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    return error instanceof Problem && error.status === 400 ? error.details.issues?.[0]?.path : String(error);
  }
}
