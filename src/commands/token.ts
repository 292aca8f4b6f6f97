/** `npm run token [-- email]`: prints an access token of a made-up account, from the running local identity provider. */

import { addressesOf, type Config, readConfig } from '#app/config.ts';
import { StartFault } from '#platform/lifecycle.ts';
import { outgoingFetch } from '#platform/version.ts';
import { readArguments } from './usage.ts';

export async function token(args: readonly string[]): Promise<number> {
  const [email = 'demo@example.com'] = readArguments('token', args, { most: 1 }).words;
  console.log(await requestToken(readConfig(process.env, []), email));
  return 0;
}

/** Returns a JWT that is valid for an hour. */
async function requestToken(config: Config, email: string): Promise<string> {
  const url = `${addressesOf(config).idp}/local/token`;
  const response = await outgoingFetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-local-secret': config.localIdp.secret },
    body: JSON.stringify({ email }),
    signal: AbortSignal.timeout(5000),
  }).catch((cause: Error) => {
    throw new StartFault(
      `The local identity provider at ${url} is not responding. Is \`npm start\` running, with the same ATELIER_PORT_BASE? (${cause.message})`,
    );
  });
  const body = (await response.json()) as { access_token?: string; message?: string };
  if (!response.ok || body.access_token === undefined) {
    throw new StartFault(`The local identity provider returned ${response.status}: ${body.message ?? 'no token'}`);
  }
  return body.access_token;
}
