import { defineProblems } from '#platform/problem.ts';

/** GoTrue's errors by `error_code`, in its own format (`{ code, error_code, msg }`). */
export const idpProblems = defineProblems({
  bad_json: { status: 400, message: 'Could not parse request body as JSON' },
  validation_failed: { status: 400, message: 'The request is not valid' },
  bad_code_verifier: { status: 400, message: 'code challenge does not match previously saved code verifier' },
  refresh_token_not_found: { status: 400, message: 'Invalid Refresh Token: Refresh Token Not Found' },
  refresh_token_already_used: { status: 400, message: 'Invalid Refresh Token: Already Used' },
  no_authorization: { status: 401, message: 'This endpoint requires a valid Bearer token' },
  invalid_api_key: { status: 401, message: 'Invalid API key' },
  bad_jwt: { status: 403, message: 'invalid JWT: unable to parse or verify signature' },
  session_not_found: { status: 403, message: 'Session from session_id claim in JWT does not exist' },
  not_admin: { status: 403, message: 'User not allowed' },
  flow_state_not_found: { status: 404, message: 'invalid flow state, no valid flow state found' },
  flow_state_expired: { status: 422, message: 'invalid flow state, flow state has expired' },
  unexpected_failure: { status: 500, message: 'Unexpected failure, please check server logs for more information' },
});
