import type { ConsoleRig } from '../console/rig.fixture.ts';

/** Returns an access token of a made-up account, as `npm run token` does. */
export async function tokenOf(rig: ConsoleRig, email: string): Promise<string> {
  const answer = await fetch(`${rig.addresses.idp}/local/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-local-secret': await rig.secret('LOCAL_IDP_SECRET') },
    body: JSON.stringify({ email }),
  });
  const { access_token: token } = (await answer.json()) as { readonly access_token: string };
  return token;
}
