/** OAuth clients of `POST /mcp` with the real GoTrue as the authorization server (docs/identity-providers.md). */
import { randomUUID } from 'node:crypto';
import { Client, type OAuthClientProvider, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newLanePlace, type Place } from '../acceptance/running.fixture.ts';
import { type Instance, startInstance } from '../agent/instances.fixture.ts';
import { type GoTrue, skipWithoutGoTrue, startGoTrue } from './gotrue.fixture.ts';

describe.skipIf(skipWithoutGoTrue)('an OAuth client of POST /mcp, with GoTrue', () => {
  let gotrue: GoTrue;
  let place: Place;
  let agent: Instance;
  beforeAll(async () => {
    [gotrue, place] = [await startGoTrue(['http://localhost:*/callback']), await newLanePlace()];
    const env = { ...place.env, IDP_URL: gotrue.url, ANON_KEY: gotrue.anonKey };
    agent = await startInstance(place.portBase, env, ['agent', 'media', 'edge', 'memory']);
  });
  afterAll(async () => {
    await agent?.kill();
    await gotrue?.close();
    await place?.remove();
  });

  /** A user who is signed in at the page where GoTrue requests consent. */
  async function signIn(): Promise<Record<string, string>> {
    const account = { email: `${randomUUID()}@example.com`, password: randomUUID() };
    expect((await gotrue.admin('POST', '/users', { ...account, email_confirm: true })).status).toBe(200);
    const response = await fetch(`${gotrue.url}/auth/v1/token?grant_type=password`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(account),
    });
    const { access_token } = (await response.json()) as { access_token: string };
    return { authorization: `Bearer ${access_token}`, 'content-type': 'application/json' };
  }

  /** Approves the request of the client, and returns the URL to which the browser goes back. */
  async function consent(at: URL, headers: Record<string, string>): Promise<URL> {
    const { headers: sent } = await fetch(at, { redirect: 'manual' });
    const id = new URL(sent.get('location') ?? '').searchParams.get('authorization_id');
    const authorization = `${gotrue.url}/auth/v1/oauth/authorizations/${id}`;
    expect(await (await fetch(authorization, { headers })).json()).toMatchObject({ client: { name: 'A client' } });
    const approved = await fetch(`${authorization}/consent`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ action: 'approve' }),
    });
    const { redirect_url } = (await approved.json()) as { redirect_url: string };
    return new URL(redirect_url);
  }

  it('registers, asks for consent, connects, and refreshes its token', async () => {
    const saved: Record<string, unknown> = {};
    const authProvider: OAuthClientProvider = {
      redirectUrl: 'http://localhost:7777/callback',
      clientMetadata: {
        redirect_uris: ['http://localhost:7777/callback'],
        client_name: 'A client',
        token_endpoint_auth_method: 'none',
      },
      clientInformation: () => saved.client as never,
      saveClientInformation: (client) => {
        saved.client = client;
      },
      tokens: () => saved.tokens as never,
      saveTokens: (tokens) => {
        saved.tokens = tokens;
      },
      redirectToAuthorization: (url) => {
        saved.sentTo = url;
      },
      saveCodeVerifier: (verifier) => {
        saved.verifier = verifier;
      },
      codeVerifier: () => String(saved.verifier),
    };
    const url = new URL(`${agent.url}/mcp`);
    const transport = new StreamableHTTPClientTransport(url, { authProvider });
    await expect(new Client({ name: 'a client', version: '1.0.0' }).connect(transport)).rejects.toThrow();
    const back = await consent(saved.sentTo as URL, await signIn());
    await transport.finishAuth(back.searchParams);
    const connect = async () => {
      const client = new Client({ name: 'a client', version: '1.0.0' });
      await client.connect(new StreamableHTTPClientTransport(url, { authProvider }));
      const { tools } = await client.listTools();
      await client.close();
      return tools.map(({ name }) => name);
    };
    expect(await connect()).toContain('generate_image');
    const { refresh_token } = saved.tokens as { refresh_token: string };
    saved.tokens = { access_token: 'expired', token_type: 'bearer', refresh_token };
    expect(await connect()).toContain('generate_image');
    expect(saved.tokens).toMatchObject({ access_token: expect.stringMatching(/^ey/) });
  });
});
