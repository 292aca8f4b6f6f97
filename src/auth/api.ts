/** The vocabulary of the authentication service (docs/specification/auth.md). */
import { z } from 'zod';

/** The response of `POST /refresh`. */
export const accessToken = z.object({
  access_token: z.string().describe('A JWT, signed by the identity provider.'),
  token_type: z.literal('bearer'),
  expires_in: z.int().describe('Seconds.'),
  expires_at: z.int().describe('Unix seconds.'),
});
export type AccessToken = z.infer<typeof accessToken>;

/** The query of `POST /logout`. */
export const logoutQuery = z.object({
  scope: z
    .enum(['global', 'local'])
    .default('global')
    // A sign-out never fails, so each other value ends all sessions.
    .catch('global')
    .describe('`local` ends only this session.'),
});
export const signedOut = z.object({ ok: z.literal(true) });
