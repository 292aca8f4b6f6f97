import { defineProblems } from '#platform/problem.ts';

/** Of the edge alone; `not_found`, `invalid_request`, `payload_too_large` and `engine_unavailable` are common to all. */
export const edgeProblems = defineProblems({
  invalid_address: { status: 403, message: 'The address is not valid, or not any more.' },
  upload_incomplete: { status: 400, message: 'The upload ended before all of it had come.' },
  upload_timeout: { status: 408, message: 'The upload stood still for too long.' },
  already_exists: { status: 412, message: 'There is an object at this address already.' },
  condition_failed: { status: 412, message: 'The object is not the one that the request names.' },
  range_not_satisfiable: { status: 416, message: 'The range starts beyond the end of the object.' },
});
